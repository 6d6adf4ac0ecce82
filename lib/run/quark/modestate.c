/* SPDX-License-Identifier: BSD-3-Clause */
/* modestate.c: states of searches, and sections of a checkpoint. */
#include "modestate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

enum { NAME = 160 };

/* Both begin with the name of a search. */
static bool alike(const char *its, const char *mine)
{
    const size_t n = strlen(mine);
    return !strncmp(its, mine, n) && its[n] == ',';
}

const lat_section_kind lat_modestate = {"checkpoint.modes", "modes", "other links", LAT_MODES,
                                        alike};

static void name_vector(char to[NAME], const char *name, int i, int of)
{
    snprintf(to, NAME, "%s, vector %d of %d", name, i, of);
}

int lat_modestate_save(lat_sections *k, const char *name, lat_spinor_space *s,
                       const lat_field *like, const lat_modes_state *state)
{
    char vector[NAME];
    lat_field f;
    lat_output *out = NULL;
    bool due;
    if (lat_sections_due(k, &due) || lat_field_spinors(&f, like, LAT_SPINOR, 1))
        return -1;
    int written = due ? lat_sections_begin(k, &out) : -1, rc = 0;
    for (int i = 0; i < state->vectors && rc == 0; i++) {
        rc = lat_spinor_get(s, state->vector[i], 0, &f, 0);
        name_vector(vector, name, i, state->vectors);
        if (rc == 0 && written == 0)
            written = lat_sections_put(k, out, vector, state->number, i ? 0 : state->numbers, &f);
        rc = rc || lat_spinor_put(s, state->vector[i], 0, &f, 0) ? -1 : 0;
    }
    lat_field_free(&f);
    if (due)
        lat_sections_end(k, out, rc ? -1 : written);
    return rc;
}

int lat_modestate_keep(lat_sections *k, const char *name, const lat_field *modes,
                       const double numbers[LAT_MODESTATE_NUMBERS])
{
    if (!k->path || lat_sections_find(k, name))
        return 0;
    lat_section *e = lat_sections_add(k, name, numbers, LAT_MODESTATE_NUMBERS);
    if (!e || lat_field_duplicate(modes, &e->f))
        return -1;
    lat_sections_save(k);
    return 0;
}

static bool fits(const lat_field *f, const lat_spinor_space *s)
{
    return f->head.geom.nd == s->grid->spec.lattice.nd
           && !memcmp(f->head.geom.dims, s->grid->spec.lattice.dims, sizeof f->head.geom.dims)
           && f->head.nc == s->nc && f->head.real == LAT_F64;
}

/* Vector i of the state, to the device, and out of the list. */
static int restore(lat_section *e, lat_spinor_space *s, lat_dfield **v)
{
    if (!e || !fits(&e->f, s))
        return lat_fail("the checkpoint: expected vectors of this search, found others or too few");
    if (!(*v = lat_spinor_new(s, "a state")) || lat_spinor_put(s, *v, 0, &e->f, 0))
        return -1;
    lat_field_free(&e->f);
    lat_header_init(&e->f.head);
    return 0;
}

int lat_modestate_from(lat_sections *k, const char *name, lat_spinor_space *s,
                       lat_modes_state *state)
{
    char vector[NAME];
    const size_t length = strlen(name);
    *state = (lat_modes_state){.vectors = 0};
    for (const lat_section *e = k->list; e < k->list + k->count && state->vectors == 0; e++)
        if (alike(e->name, name)
            && sscanf(e->name + length, ", vector 0 of %d", &state->vectors) == 1) {
            state->number = e->number;
            state->numbers = e->numbers;
        }
    if (state->vectors < 1)
        return 0;
    if (state->vectors > k->count
        || !(state->vector = calloc((size_t)state->vectors, sizeof(lat_dfield *))))
        return lat_fail("the checkpoint: expected %d vectors, found fewer", state->vectors);
    for (int i = 0; i < state->vectors; i++) {
        name_vector(vector, name, i, state->vectors);
        if (restore(lat_sections_find(k, vector), s, &state->vector[i]))
            return -1;
    }
    return 1;
}

void lat_modestate_drop(lat_modes_state *state)
{
    for (int i = 0; state->vector && i < state->vectors; i++)
        lat_dfield_free(state->vector[i]);
    free(state->vector);
    *state = (lat_modes_state){.vectors = 0};
}

int lat_modestate_done(lat_sections *k, const char *name, lat_field *modes,
                       double numbers[LAT_MODESTATE_NUMBERS])
{
    lat_section *e;
    const int rc = lat_sections_get(k, name, &e);
    if (rc <= 0)
        return rc;
    if (e->f.head.kind != LAT_MODES || e->numbers != LAT_MODESTATE_NUMBERS
        || !e->f.head.quark.eigenvalue || e->f.head.real != LAT_F64)
        return lat_fail("the checkpoint: expected modes of %s, found others", name);
    memcpy(numbers, e->number, sizeof *numbers * LAT_MODESTATE_NUMBERS);
    return lat_field_duplicate(&e->f, modes) ? -1 : 1;
}
