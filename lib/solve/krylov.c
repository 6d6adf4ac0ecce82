/* SPDX-License-Identifier: BSD-3-Clause */
/* krylov.c: active columns, reliable updates, one method after the other. */
#include <math.h>
#include <string.h>
#include "krylov_internal.h"

enum { STALLS = 6 };               /* updates that do not help, until a column has stagnated */
#define DIVERGED 1e8               /* |r| grown by this is stagnation, too */
static const double progress = .9; /* a residual below this times the best one is progress */

const char *lat_solver_name(lat_solver solver)
{
    switch (solver) {
    case LAT_SOLVER_AUTO: return "auto";
    case LAT_SOLVER_CG: return "cg";
    case LAT_SOLVER_BICGSTAB: return "bicgstab";
    case LAT_SOLVER_BICGSTABL: return "bicgstabl";
    case LAT_SOLVER_GCR: return "gcr";
    case LAT_SOLVER_MR: return "mr";
    case LAT_SOLVER_MG: return "mg";
    }
    return "?";
}

const char *lat_end_text(lat_end end)
{
    switch (end) {
    case LAT_END_NONE: return "not begun";
    case LAT_END_CONVERGED: return "converged";
    case LAT_END_ITERATIONS: return "out of iterations";
    case LAT_END_BREAKDOWN: return "broke down";
    case LAT_END_STAGNATION: return "stagnated";
    case LAT_END_SLOW: return "promised no end within the iterations that are allowed";
    case LAT_END_INFINITE: return "not finite";
    }
    return "?";
}

/* ---- vectors --------------------------------------------------------------------------------- */

lat_dfield *lat_system_vector(const lat_system *s, const lat_part *p, const char *what)
{
    lat_dfield *const v = s->vector(s->with, what);
    if (!v || LAT_OPS(s)->zero(s->space, p, v) == 0)
        return v;
    s->release(s->with, v);
    return NULL;
}

int lat_system_vectors(const lat_system *s, const lat_part *p, int count, lat_dfield **v,
                       const char *what)
{
    for (int i = 0; i < count; i++)
        v[i] = NULL;
    for (int i = 0; i < count; i++)
        if (!(v[i] = lat_system_vector(s, p, what)))
            return -1;
    return 0;
}

void lat_system_release(const lat_system *s, int count, lat_dfield **v)
{
    for (int i = 0; i < count; i++)
        s->release(s->with, v[i]);
}

int lat_add_all(const lat_system *s, const lat_part *p, int n, lat_numbers *c, lat_dfield *const *v,
                lat_dfield *y, double *norm)
{
    const lat_scalar *by[LAT_VECTOR_TERMS];
    const lat_dfield *x[LAT_VECTOR_TERMS];
    for (int i = 0; i < n; i++) {
        by[i] = c[i];
        x[i] = v[i];
    }
    return LAT_OPS(s)->axpys(s->space, p, n, by, x, y, norm);
}

/* ---- reliable updates ------------------------------------------------------------------------ */

static bool mixed(const lat_run *w) { return w->p->inner != w->p->outer; }

/* Are iterations in fewer bits than single has? */
static bool is_coarse(const lat_system *s) { return s->epsilon > 0x1p-20; }

static int convert(const lat_system *to, const lat_part *c, lat_space *from, const lat_dfield *x,
                   lat_dfield *y)
{
    return LAT_OPS(to)->convert(to->space, c, from, x, y);
}

/* r = b - A x in the outer precision, norm[column] = |r|^2. */
static int defect(lat_run *w, const lat_part *c, double *norm)
{
    const lat_equation *p = w->p;
    const lat_system *o = p->outer;
    lat_numbers minus;
    LAT_FOR_COLUMNS (k, c)
        minus[k] = (lat_scalar){-1, 0};
    return o->apply(o->with, false, c, w->outer_r, p->x, NULL)
           || LAT_OPS(o)->axpby(o->space, c, NULL, p->b, minus, w->outer_r, norm);
}

/* The same of x = 0. */
static int whole(lat_run *w, const lat_part *c, double *norm)
{
    const lat_system *o = w->p->outer;
    return (w->outer_r != w->p->b && LAT_OPS(o)->copy(o->space, c, w->p->b, w->outer_r))
           || LAT_OPS(o)->dots(o->space, c, 0, NULL, w->outer_r, NULL, norm);
}

/* The residual of x, which is improved first, to the inner precision. */
static int residual(lat_run *w, const lat_part *c, bool zero, double *norm)
{
    const lat_equation *p = w->p;
    return (zero ? whole(w, c, norm) : defect(w, c, norm))
           || (p->improve && (p->improve(p->with, c, p->x, w->outer_r) || defect(w, c, norm)))
           || (mixed(w) && convert(w->s, c, p->outer->space, w->outer_r, w->r));
}

/* The solution so far goes to the outer precision. w->outer_r serves as a buffer. */
static int collect(lat_run *w, const lat_part *c)
{
    const lat_system *o = w->p->outer;
    if (!mixed(w))
        return 0;
    return convert(o, c, w->of_x, w->x, w->outer_r)
           || LAT_OPS(o)->axpby(o->space, c, NULL, w->outer_r, NULL, w->p->x, NULL)
           || w->of_x->ops->zero(w->of_x, c, w->x);
}

/* direction += c r */
static int follow(lat_run *w, const lat_part *p, double c)
{
    lat_numbers by;
    LAT_FOR_COLUMNS (k, p)
        by[k] = (lat_scalar){c, 0};
    return w->direction ? lat_add(w->s, p, by, w->r, w->direction, NULL) : 0;
}

static int update(lat_run *w, const lat_part *c)
{
    double norm[LAT_VECTOR_COLUMNS];
    if (c->columns == 0)
        return 0;
    if (w->settle && w->settle(w, c))
        return -1;
    if (w->p->estimate)
        return 0;
    if (follow(w, c, -1) || collect(w, c) || residual(w, c, false, norm) || follow(w, c, 1))
        return -1;
    LAT_FOR_COLUMNS (k, c) {
        const double now = sqrt(norm[k]);
        w->stalls[k] = now > progress * w->last[k] ? w->stalls[k] + 1 : 0;
        w->norm[k] = w->peak[k] = w->last[k] = now;
        w->report[k].residual = now;
        w->report[k].updates++;
        w->fresh[k] = true;
    }
    return 0;
}

/* ---- columns leave --------------------------------------------------------------------------- */

/* Columns whose report has an end leave the list. */
static int leave(lat_run *w)
{
    int left = 0;
    LAT_FOR_COLUMNS (k, &w->active) {
        if (w->report[k].end == LAT_END_CONVERGED && w->p->done && w->p->done(w->p->with, k))
            return -1;
        if (w->report[k].end == LAT_END_NONE)
            w->list[left++] = k;
    }
    w->active.columns = left;
    return 0;
}

static lat_end verdict(const lat_run *w, int k)
{
    if (!isfinite(w->norm[k]))
        return LAT_END_INFINITE;
    if ((w->fresh[k] || w->p->estimate) && w->norm[k] <= w->p->target[k])
        return LAT_END_CONVERGED;
    if (w->report[k].iterations >= w->p->max_iterations)
        return LAT_END_ITERATIONS;
    if (w->stalls[k] >= STALLS || w->norm[k] > DIVERGED * w->best[k]
        || (w->window && w->report[k].iterations - w->best_at[k] > w->window))
        return LAT_END_STAGNATION;
    return w->report[k].end;
}

/* x = 0 where it is not finite: the next method begins there. */
static int forget(lat_run *w, const lat_part *c)
{
    const lat_system *o = w->p->outer;
    return c->columns
           && (w->of_x->ops->zero(w->of_x, c, w->x) || LAT_OPS(o)->zero(o->space, c, w->p->x));
}

/* A solution that is not finite is worth nothing; others are kept, with their residual. */
static int judge(lat_run *w)
{
    int list[LAT_VECTOR_COLUMNS], lost[LAT_VECTOR_COLUMNS];
    lat_part kept = {w->s->parity, 0, list}, gone = {w->s->parity, 0, lost};
    lat_end end[LAT_VECTOR_COLUMNS];
    LAT_FOR_COLUMNS (k, &w->active) {
        end[k] = verdict(w, k);
        if (end[k] == LAT_END_INFINITE)
            lost[gone.columns++] = k;
        else if (end[k] != LAT_END_NONE && end[k] != LAT_END_CONVERGED)
            list[kept.columns++] = k;
    }
    if (update(w, &kept))
        return -1;
    for (int i = 0; i < kept.columns; i++)
        if (!isfinite(w->norm[list[i]])) {
            end[list[i]] = LAT_END_INFINITE;
            lost[gone.columns++] = list[i];
        }
    if (forget(w, &gone))
        return -1;
    LAT_FOR_COLUMNS (k, &w->active) {
        w->report[k].end = end[k];
        w->report[k].solver = w->solver;
        if (end[k] != LAT_END_NONE && w->norm[k] <= w->p->target[k])
            w->report[k].end = LAT_END_CONVERGED;
    }
    return leave(w);
}

static int tell(const lat_run *w)
{
    double worst = 0;
    if (!w->p->progress || w->active.columns == 0)
        return 0;
    LAT_FOR_COLUMNS (k, &w->active)
        worst = fmax(worst, w->norm[k] / w->p->target[k]);
    return w->p->progress(w->p->with, w->step, w->active.columns, worst);
}

/* Columns that leave by the word of the caller. */
static int ask(lat_run *w)
{
    bool some = false;
    for (int i = 0; i < w->active.columns && w->p->leaves; i++) {
        const int k = w->list[i];
        if (w->p->leaves(w->p->with, k, w->report[k].iterations, w->norm[k] / w->p->target[k])) {
            w->report[k].end = LAT_END_ITERATIONS;
            some = true;
        }
    }
    return some ? judge(w) : 0;
}

/* A residual that has fallen by this since the last update is computed anew. The |r|^2 of CG is a
 * difference, to about epsilon times that of the last update: by 64 sqrt(epsilon), four thousand
 * times that is left of it, and below it CG cannot know its residual, whatever was asked for. */
static double update_delta(const lat_run *w)
{
    const bool coarse_cg = w->solver == LAT_SOLVER_CG && is_coarse(w->s);
    const double usual = coarse_cg ? LAT_KRYLOV_DELTA_COARSE : LAT_KRYLOV_DELTA,
                 given = w->p->delta > 0 ? w->p->delta : usual;
    const double asked = mixed(w) || w->p->improve ? given : 0;
    const double least = fmin(64 * sqrt(w->s->epsilon), LAT_KRYLOV_DELTA);
    return w->solver == LAT_SOLVER_CG ? fmax(asked, least) : asked;
}

int lat_run_check(lat_run *w, int iterations, const double *norm)
{
    const double delta = update_delta(w);
    int list[LAT_VECTOR_COLUMNS];
    lat_part due = {w->s->parity, 0, list};
    w->step += iterations;
    LAT_FOR_COLUMNS (k, &w->active) {
        const double now = sqrt(norm[k]);
        w->report[k].iterations += iterations;
        w->fresh[k] = false;
        w->norm[k] = now;
        w->peak[k] = fmax(w->peak[k], now);
        if (now < progress * w->best[k]) {
            w->best[k] = now;
            w->best_at[k] = w->report[k].iterations;
        }
        if (now <= w->p->target[k] || now < delta * w->peak[k])
            list[due.columns++] = k;
    }
    return update(w, &due) || judge(w) || ask(w) || tell(w);
}

const lat_part *lat_run_look(lat_run *w, int *ago)
{
    *ago = w->s->space->ahead;
    if (!*ago)
        return &w->active;
    w->looked = (lat_part){w->active.parity, w->running.columns, w->before};
    memcpy(w->before, w->now, sizeof w->now);
    w->running = (lat_part){w->active.parity, w->active.columns, w->now};
    memcpy(w->now, w->list, sizeof w->list);
    for (int i = 0; i < w->active.columns && w->looked.columns == 0; i++)
        w->fresh[w->list[i]] = false; /* r of the start is that of the first iteration */
    return &w->looked;
}

lat_part lat_run_fresh(const lat_run *w, int list[LAT_VECTOR_COLUMNS])
{
    lat_part c = {w->s->parity, 0, list};
    LAT_FOR_COLUMNS (k, &w->active)
        if (w->fresh[k])
            list[c.columns++] = k;
    return c;
}

void lat_run_break(lat_run *w, int column) { w->report[column].end = LAT_END_BREAKDOWN; }
void lat_run_slow(lat_run *w, int column) { w->report[column].end = LAT_END_SLOW; }

/* ---- begin and end --------------------------------------------------------------------------- */

static int start(lat_run *w)
{
    double norm[LAT_VECTOR_COLUMNS];
    if (residual(w, &w->active, w->p->from_zero, norm))
        return -1;
    LAT_FOR_COLUMNS (k, &w->active) {
        w->norm[k] = w->peak[k] = w->last[k] = w->best[k] = sqrt(norm[k]);
        w->best_at[k] = w->report[k].iterations;
        w->report[k].residual = w->norm[k];
        w->report[k].end = LAT_END_NONE;
        w->fresh[k] = true;
    }
    return judge(w);
}

/* Begins: r = b - A x. Columns that are below their target leave at once. */
static int begin_run(lat_run *w, const lat_equation *p, lat_solver solver, long window, int columns,
                     const int *column, lat_solve_report *report)
{
    memset(w, 0, sizeof *w);
    w->p = p;
    w->s = p->inner;
    w->solver = solver;
    w->window = window;
    w->report = report;
    memcpy(w->list, column, sizeof(int) * (size_t)columns);
    w->active = (lat_part){w->s->parity, columns, w->list};
    w->outer_r = p->estimate ? p->b : lat_system_vector(p->outer, &w->active, "a residual");
    if (!w->outer_r)
        return -1;
    w->r = w->outer_r;
    w->x = p->x;
    w->of_x = w->s->space;
    if (mixed(w)) {
        if (w->s->sums && solver == LAT_SOLVER_CG)
            w->of_x = w->s->sums;
        w->x = w->of_x == w->s->space ? lat_system_vector(w->s, &w->active, "a solution")
                                      : lat_vector_new_of(w->of_x, w->s->parity, "a solution");
        w->r = lat_system_vector(w->s, &w->active, "a residual");
        if (!w->x || !w->r)
            return -1;
    }
    return start(w);
}

static void end_run(lat_run *w)
{
    if (mixed(w)) {
        w->s->release(w->s->with, w->x);
        w->s->release(w->s->with, w->r);
    }
    if (!w->p->estimate)
        w->p->outer->release(w->p->outer->with, w->outer_r);
}

/* ---- one method after the other -------------------------------------------------------------- */

/* Iterations without progress after which one of the fast methods gives up, and conjugate gradients
 * where rounding is coarse: |r| falls there as long as they work, but wanders, without an update,
 * in 16 bits of a matrix that is near singular. */
enum { WINDOW = 1000 };

static int solve_by(const lat_equation *p, lat_solver solver, int columns, const int *column,
                    lat_solve_report *report)
{
    const lat_method mr = {.solver = LAT_SOLVER_MR, .system = p->inner, .steps = 6};
    lat_equation own = *p;
    lat_run w;
    if (solver == LAT_SOLVER_GCR || solver == LAT_SOLVER_MG) {
        if (!own.preconditioner && p->inner != p->outer)
            own.preconditioner = &mr;
        const lat_method *k = own.preconditioner;
        own.inner = k && k->precondition && k->system ? k->system : p->outer;
    }
    int rc = begin_run(&w, &own, solver,
                       solver == LAT_SOLVER_CG && !is_coarse(own.inner) ? 0 : WINDOW, columns,
                       column, report);
    if (rc == 0 && w.active.columns > 0)
        switch (solver) {
        case LAT_SOLVER_AUTO: break;
        case LAT_SOLVER_CG: rc = lat_cg(&w); break;
        case LAT_SOLVER_BICGSTAB: rc = lat_bicgstab(&w); break;
        case LAT_SOLVER_BICGSTABL: rc = lat_bicgstabl(&w); break;
        case LAT_SOLVER_GCR:
        case LAT_SOLVER_MG: rc = lat_gcr(&w); break;
        case LAT_SOLVER_MR: rc = lat_mr(&w); break;
        }
    end_run(&w);
    return rc ? -1 : 0;
}

int lat_solve(const lat_equation *p, lat_solver solver, int columns, const int *column,
              lat_solve_report *report)
{
    static const lat_solver usual[] = {LAT_SOLVER_BICGSTAB, LAT_SOLVER_BICGSTABL, LAT_SOLVER_CG},
                            light[] = {LAT_SOLVER_MG, LAT_SOLVER_CG};
    const bool mg = solver == LAT_SOLVER_MG;
    const lat_solver *const chain = mg ? light : usual;
    const int methods = mg ? 2 : 3;
    lat_equation now = *p;
    int list[LAT_VECTOR_COLUMNS], left = columns;
    memcpy(list, column, sizeof(int) * (size_t)columns);
    if (solver != LAT_SOLVER_AUTO && !mg)
        return solve_by(p, solver, columns, column, report);
    for (int s = 0; s < methods && left > 0; s++) {
        int count = 0;
        if (solve_by(&now, chain[s], left, list, report))
            return -1;
        for (int i = 0; i < left; i++) {
            const lat_end end = report[list[i]].end;
            if (end != LAT_END_CONVERGED && end != LAT_END_ITERATIONS)
                list[count++] = list[i];
        }
        left = count;
        now.from_zero = false;
    }
    return 0;
}
