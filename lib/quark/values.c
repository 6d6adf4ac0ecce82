/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c: the numbers of propagators and vertices in momentum space. */
#include "values.h"

#include <math.h>
#include <string.h>
#include "amputation.h"
#include "base/error.h"

enum { TRACE, ZQ, MASS, ADDITIVE, MULTIPLICATIVE, SCALARS };
enum { LAMBDA, RATIO, Z, CONSERVED, COLUMNS };
_Static_assert((int)COLUMNS == LAT_VALUES_STRIDE, "columns of a row");
static const char *const scalar_names[] = {"trace", "Zq", "M", "M_additive", "M_multiplicative"};
static const char *const column_names[] = {"Lambda", "Z_over_Zq", "Z", "Z_conserved"};

static const struct row {
    const char *name;
    unsigned members; /* the bilinears that it is the mean of, a bit each; 0: another sum */
} rows[] = {
    {"S", 0x0001},     {"P", 0x8000},     {"V", 0x0116},     {"A", 0x6880},     {"T", 0x1668},
    {"V_q", 0},        {"A_q", 0},        {"1", 1 << 0},     {"gx", 1 << 1},    {"gy", 1 << 2},
    {"gxgy", 1 << 3},  {"gz", 1 << 4},    {"gxgz", 1 << 5},  {"gygz", 1 << 6},  {"gtg5", 1 << 7},
    {"gt", 1 << 8},    {"gxgt", 1 << 9},  {"gygt", 1 << 10}, {"gzg5", 1 << 11}, {"gzgt", 1 << 12},
    {"gyg5", 1 << 13}, {"gxg5", 1 << 14}, {"g5", 1 << 15},   {"Vc", 0},         {"Vc_q", 0}};
enum { VC = LAT_VALUES_ROWS - 2, VC_Q };
_Static_assert(sizeof rows / sizeof *rows == LAT_VALUES_ROWS, "rows of a pair");

int lat_values_rows(lat_legs_kind kind)
{
    return kind == LAT_LEG ? 1 : kind == LAT_PAIR_CURRENT ? LAT_VALUES_ROWS : VC;
}

int lat_values_columns(lat_legs_kind kind)
{
    return kind == LAT_LEG ? SCALARS : kind == LAT_PAIR_CURRENT ? COLUMNS : CONSERVED;
}

const char *lat_values_row(int row) { return rows[row].name; }

const char *lat_values_column(lat_legs_kind kind, int column)
{
    return kind == LAT_LEG ? scalar_names[column] : column_names[column];
}

int lat_values_count(lat_legs_kind kind) { return kind == LAT_LEG ? SCALARS : LAT_VALUES; }

/* gamma_mu gamma5 is this sign times the product of the other three in their order. */
static double axial_sign(int mu) { return mu % 2 ? -1 : 1; }

/* sum q_mu q_nu tr[ Lambda_mu Gamma_nu^+ ] / q^2, of V or A. */
static double along_q(const lat_kinematics *k, bool axial, double t[LAT_GAMMAS][LAT_GAMMAS])
{
    double sum = 0;
    for (int i = 0; i < 16; i++) {
        const int mu = i / 4, nu = i % 4, a = 1 << mu, b = 1 << nu;
        sum += k->q[mu] * k->q[nu]
               * (axial ? axial_sign(mu) * axial_sign(nu) * t[15 ^ a][15 ^ b] : t[a][b]);
    }
    return k->q2 > 0 ? sum / k->q2 : NAN;
}

static double lambda_of(int row, const lat_kinematics *k, double t[LAT_GAMMAS][LAT_GAMMAS])
{
    double sum = 0;
    int members = 0;
    for (int g = 0; g < LAT_GAMMAS; g++)
        if (rows[row].members >> g & 1) {
            sum += t[g][g];
            members++;
        }
    return members ? sum / members : along_q(k, rows[row].name[0] == 'A', t);
}

/* Lambda of the conserved current, over that of free quarks: t[mu][mu] is then w_mu cos p_mu. */
static void current_lambdas(const lat_kinematics *k, double t[4][4], double *v)
{
    double sum[2] = {0, 0}, tree[2] = {0, 0};
    for (int mu = 0; mu < 4; mu++) {
        const double *q = k->ward.qhat, free = k->weight[mu] * cos(k->middle[mu]);
        sum[0] += t[mu][mu];
        tree[0] += free;
        tree[1] += q[mu] * q[mu] * free;
        for (int nu = 0; nu < 4; nu++)
            sum[1] += q[mu] * q[nu] * t[mu][nu];
    }
    v[VC * LAT_VALUES_STRIDE + LAMBDA] = sum[0] / tree[0];
    v[VC_Q * LAT_VALUES_STRIDE + LAMBDA] = k->q2 > 0 ? sum[1] / tree[1] : NAN;
}

static int vertex_values(const char *name, const lat_kinematics *k, bool current, int nc,
                         const double *legs, double *v)
{
    double t[LAT_GAMMAS][LAT_GAMMAS], one[2], two[2];
    if (lat_leg_parts(name, nc, legs, k->pbar[0], one)
        || lat_leg_parts(name, nc, legs + lat_leg_reals(nc), k->pbar[1], two)
        || lat_pair_traces(name, nc, legs, t))
        return -1;
    for (int i = 0; i < VC; i++)
        v[i * LAT_VALUES_STRIDE + LAMBDA] = lambda_of(i, k, t);
    double of_current[4][4];
    v[LAT_VALUES_WARD] = v[VC * LAT_VALUES_STRIDE + LAMBDA] = v[VC_Q * LAT_VALUES_STRIDE + LAMBDA] =
        NAN;
    if (current) {
        if (lat_pair_current(name, nc, legs, &k->ward, of_current, &v[LAT_VALUES_WARD]))
            return -1;
        current_lambdas(k, of_current, v);
    }
    for (int i = 0; i < LAT_VALUES_ROWS; i++) {
        const bool along = strchr(rows[i].name, '_');
        double *r = v + i * LAT_VALUES_STRIDE;
        r[RATIO] = 1 / r[LAMBDA];
        r[Z] = (one[1] + two[1]) / 2 * r[RATIO];
        r[CONSERVED] = v[(along ? VC_Q : VC) * LAT_VALUES_STRIDE + LAMBDA] * r[RATIO];
    }
    return 0;
}

int lat_values_of(const char *name, const lat_kinematics *k, lat_legs_kind kind, int nc,
                  const double *legs, double v[LAT_VALUES])
{
    double part[2];
    for (size_t i = 0; i < lat_legs_reals(kind, nc); i++)
        if (!isfinite(legs[i]))
            return lat_fail("%s: expected sums that are finite, found %g: another normalisation?",
                            name, legs[i]);
    if (kind != LAT_LEG)
        return vertex_values(name, k, kind == LAT_PAIR_CURRENT, nc, legs, v);
    if (lat_leg_parts(name, nc, legs, k->pbar[0], part))
        return -1;
    v[TRACE] = part[0];
    v[ZQ] = part[1];
    v[MASS] = v[TRACE] / v[ZQ];
    v[ADDITIVE] = v[MASS] - (k->tree - k->mass);
    v[MULTIPLICATIVE] = k->tree != 0 ? v[MASS] * k->mass / k->tree : NAN;
    return 0;
}
