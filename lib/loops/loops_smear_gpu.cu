/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_smear_gpu.cu: smeared links on a GPU, in the layout of lines (loops_cuda.cuh). What a step
 * is, lib/smear says; it is covariant, so links may be in any gauge. */
#include <string.h>
#include "loops_cuda.cuh"
extern "C" {
#include "site/sun.h"
}

enum { SETS = 1 << LAT_MAX_DIMS };

/* A step: HYP has V_mu(S) for sets S of directions (smear/smear_hyp.c), made when asked for, in
 * fields that the next step uses again. */
typedef struct step {
    lat_loops_gpu_state *s;
    const lat_smear *smear;
    int directions;
    double *const *u;
    double *v[SETS][LAT_MAX_DIMS];
    bool made[SETS][LAT_MAX_DIMS];
} step;

static int failed(cudaError_t e) { return lat_cuda_failed(e, "smeared links"); }

static int simple(const step *p, int mu, double *to)
{
    lat_cuda_smear a = {};
    const int staples = 2 * (p->directions - 1);
    a.stout = p->smear->kind == LAT_SMEAR_STOUT;
    a.mu = mu;
    a.weight = p->smear->weight[0];
    a.share = a.stout ? a.weight : a.weight / staples;
    /* P of the sum of staples has eigenvalues of at most its norm, twice. */
    a.halvings = a.stout ? lat_sun_halvings(2 * a.weight * staples) : 0;
    a.u = p->u[mu];
    a.to = to;
    a.singular = p->s->singular;
    for (int nu = 0; nu < p->directions; nu++)
        if (nu != mu) {
            a.b[a.planes] = p->u[mu];
            a.c[a.planes] = p->u[nu];
            a.nu[a.planes++] = nu;
        }
    return failed(p->s->ops->smear(&p->s->w, &a, p->s->stream));
}

static double *hyp(step *p, int set, int mu);

/* V_mu(set) to `to`. */
static int hypercubic(step *p, int set, int mu, double *to)
{
    lat_cuda_smear a = {};
    const int left = p->directions - 1 - __builtin_popcount((unsigned)set);
    a.mu = mu;
    a.weight = p->smear->weight[p->directions - 1 - left];
    a.share = a.weight / (2 * left);
    a.u = p->u[mu];
    a.to = to;
    a.singular = p->s->singular;
    for (int nu = 0; nu < p->directions; nu++)
        if (nu != mu && !(set >> nu & 1)) {
            a.b[a.planes] = hyp(p, set | 1 << nu, mu);
            a.c[a.planes] = hyp(p, set | 1 << mu, nu);
            if (!a.b[a.planes] || !a.c[a.planes])
                return -1;
            a.nu[a.planes++] = nu;
        }
    return failed(p->s->ops->smear(&p->s->w, &a, p->s->stream));
}

/* V_mu(set), made if it is not there; NULL with lat_error set. */
static double *hyp(step *p, int set, int mu)
{
    double **v = &p->v[set][mu];
    if (__builtin_popcount((unsigned)set) >= p->directions - 1)
        return p->u[mu];
    if (!*v)
        *v = lat_loops_gpu_field(p->s);
    if (!*v || (!p->made[set][mu] && hypercubic(p, set, mu, *v)))
        return NULL;
    p->made[set][mu] = true;
    return *v;
}

/* One step from p->u to `to`. */
static int one_step(step *p, double **to, bool one)
{
    memset(p->made, 0, sizeof p->made);
    for (int mu = one ? p->directions - 1 : 0; mu < p->directions; mu++) {
        if (!to[mu] && !(to[mu] = lat_loops_gpu_field(p->s)))
            return -1;
        if (p->smear->kind == LAT_SMEAR_HYP ? hypercubic(p, 0, mu, to[mu]) : simple(p, mu, to[mu]))
            return -1;
    }
    return 0;
}

int lat_loops_gpu_smear(lat_loops_gpu_state *s, const lat_smear *smear, int directions,
                        double *const *from, double **to, bool one)
{
    double *field[2][LAT_MAX_DIMS] = {};
    step p = {};
    p.s = s;
    p.smear = smear;
    p.directions = directions;
    p.u = from;
    int now = 0;
    for (int i = 0; i < smear->steps; i++) {
        now = i % 2;
        if (one_step(&p, field[now], one && i + 1 == smear->steps))
            return -1;
        p.u = field[now];
    }
    for (int mu = 0; mu < directions; mu++) {
        to[mu] = field[now][mu];
        lat_loops_gpu_release(s, field[1 - now][mu]);
        for (int set = 0; set < SETS; set++)
            lat_loops_gpu_release(s, p.v[set][mu]);
        if (one && mu + 1 < directions)
            lat_loops_gpu_release(s, to[mu]);
    }
    return 0;
}

int lat_loops_gpu_smear_fields(const lat_smear *smear, int directions, bool one)
{
    const bool last_alone = one && smear->steps == 1;
    const int of_hyp = directions == 3 ? 6 : last_alone ? 15 : 24;
    return (smear->kind == LAT_SMEAR_HYP ? of_hyp : 0)
           + (last_alone ? 1 : (smear->steps > 1 ? 2 : 1) * directions);
}
