/* SPDX-License-Identifier: BSD-3-Clause */
/* modestate.c: states of searches, and sections of a checkpoint. */
#include "modestate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

enum { NAME = 160, LINE = 2000 /* numbers, which a line of a header has space for */ };

/* Both begin with the name of a search. */
static bool alike(const char *its, const char *mine)
{
    const size_t n = strlen(mine);
    return !strncmp(its, mine, n) && its[n] == ',';
}

const lat_section_kind lat_modestate = {"checkpoint.modes", "modes",
                                        "other links or another subspace", LAT_MODES, alike};

static void name_vector(char to[NAME], const char *name, int i, const lat_modes_state *state)
{
    snprintf(to, NAME, "%s, %svector %d of %d", name, state->refined ? "refined " : "", i,
             state->vectors);
}

static void name_rest(char to[NAME], const char *name, int i)
{
    snprintf(to, NAME, "%s, rest of vector %d", name, i);
}

/* What a host field, in another basis and gauge, has rounded of x: x less f. */
static int find_rest(lat_space *s, const lat_dfield *x, lat_field *f, lat_dfield *work)
{
    const lat_scalar minus[] = {{-1, 0}};
    return lat_rc(lat_spinor_put(s, work, 0, f, 0)
                  || s->ops->axpby(s, &lat_first_column, NULL, x, minus, work, NULL)
                  || lat_spinor_get(s, work, 0, f, 0));
}

/* Vectors to the file; between two states of a search also their rests, since they go on as they
 * are. Otherwise they become what the file has. */
static int put_vectors(lat_sections *k, lat_output *out, const char *name, lat_space *s,
                       const lat_modes_state *state, lat_field *f, int *written)
{
    char text[NAME];
    lat_dfield *rest = state->between ? lat_vector_new(s, "a rest") : NULL;
    int rc = rest || !state->between ? 0 : -1;
    if (*written == 0 && state->numbers > LINE * state->vectors && state->vectors)
        *written = lat_fail("a state of %d numbers: expected at most %d for each vector",
                            state->numbers, LINE);
    for (int i = 0; i < state->vectors && rc == 0; i++) {
        rc = lat_spinor_get(s, state->vector[i], 0, f, 0);
        name_vector(text, name, i, state);
        const int left = state->numbers - i * LINE, numbers = left < LINE ? left : LINE;
        if (rc == 0 && *written == 0)
            *written = lat_sections_put(k, out, text, state->number + (numbers > 0 ? i * LINE : 0),
                                        numbers > 0 ? numbers : 0, f);
        rc = rc
             || (rest ? find_rest(s, state->vector[i], f, rest)
                      : lat_spinor_put(s, state->vector[i], 0, f, 0));
        name_rest(text, name, i);
        if (rc == 0 && rest && *written == 0)
            *written = lat_sections_put(k, out, text, NULL, 0, f);
    }
    lat_dfield_free(rest);
    return rc ? -1 : 0;
}

int lat_modestate_save(lat_sections *k, const char *name, lat_space *s, const lat_field *like,
                       const lat_modes_state *state)
{
    lat_field f;
    lat_output *out = NULL;
    bool due;
    if (lat_sections_due(k, &due) || lat_field_spinors(&f, like, LAT_SPINOR, 1))
        return -1;
    int written = due ? lat_sections_begin(k, &out) : -1;
    const int rc = put_vectors(k, out, name, s, state, &f, &written);
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

static bool fits(const lat_field *f, const lat_space *s)
{
    return f->head.geom.nd == s->grid->spec.lattice.nd
           && !memcmp(f->head.geom.dims, s->grid->spec.lattice.dims, sizeof f->head.geom.dims)
           && f->head.nc == s->nc && f->head.real == LAT_F64;
}

/* A section becomes a vector of the device, and is left empty. */
static int take(lat_section *e, lat_space *s, lat_dfield *v)
{
    if (!e || !fits(&e->f, s))
        return lat_fail("the checkpoint: expected vectors of this search, found others or too few");
    if (lat_spinor_put(s, v, 0, &e->f, 0))
        return -1;
    lat_field_free(&e->f);
    lat_header_init(&e->f.head);
    return 0;
}

/* Vector i of the state. */
static int restore(lat_sections *k, const char *name, int i, lat_space *s, lat_modes_state *state,
                   lat_dfield *work)
{
    char text[NAME];
    name_vector(text, name, i, state);
    if (take(lat_sections_find(k, text), s, state->vector[i]))
        return -1;
    name_rest(text, name, i);
    lat_section *rest = lat_sections_find(k, text);
    if (!rest)
        return 0;
    return lat_rc(take(rest, s, work)
                  || s->ops->axpby(s, &lat_first_column, NULL, work, NULL, state->vector[i], NULL));
}

/* The numbers that are beside the vectors. */
static int gather_numbers(const lat_sections *k, const char *name, lat_modes_state *state)
{
    char text[NAME];
    size_t most = 1;
    for (int i = 0; i < k->count; i++)
        most += (size_t)k->list[i].numbers;
    if (!(state->number = lat_alloc(most, sizeof *state->number, "a state")))
        return -1;
    for (int i = 0; i < state->vectors; i++) {
        name_vector(text, name, i, state);
        const lat_section *e = lat_sections_find(k, text);
        for (int n = 0; e && n < e->numbers; n++)
            state->number[state->numbers++] = e->number[n];
    }
    return 0;
}

/* Is it the first vector of a state? */
static bool begins(const lat_section *e, const char *name, lat_modes_state *state)
{
    if (!alike(e->name, name))
        return false;
    const char *after = e->name + strlen(name);
    state->refined = sscanf(after, ", refined vector 0 of %d", &state->vectors) == 1;
    return state->refined || sscanf(after, ", vector 0 of %d", &state->vectors) == 1;
}

int lat_modestate_from(lat_sections *k, const char *name, lat_space *coarse, lat_space *exact,
                       lat_modes_state *state)
{
    *state = (lat_modes_state){.vectors = 0};
    for (const lat_section *e = k->list; e < k->list + k->count && !begins(e, name, state); e++)
        ;
    if (state->vectors < 1)
        return 0;
    lat_space *s = state->refined ? exact : coarse;
    if (state->vectors > k->count
        || !(state->vector = calloc((size_t)state->vectors, sizeof(lat_dfield *))))
        return lat_fail("the checkpoint: expected %d vectors, found fewer", state->vectors);
    lat_dfield *work = lat_vector_new(s, "a rest");
    int rc = work && gather_numbers(k, name, state) == 0
                 ? lat_vector_new_all(s, state->vectors, state->vector, "a state")
                 : -1;
    for (int i = 0; i < state->vectors && rc == 0; i++)
        rc = restore(k, name, i, s, state, work);
    lat_dfield_free(work);
    return rc ? -1 : 1;
}

void lat_modestate_drop(lat_modes_state *state)
{
    lat_vector_free_all(state->vectors, state->vector);
    LAT_FREE(state->vector, state->number);
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
