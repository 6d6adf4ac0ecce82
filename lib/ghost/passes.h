/* SPDX-License-Identifier: BSD-3-Clause */
/* passes.h: passes over vectors at one place of them (template), one text for CPU and GPU, and for
 * columns side by side and one column: ghost_gpu.h says what they do. V is a vector of numbers, or
 * one; GET(p, i) and PUT(p, i, v) reach those of the place i, an INDEX; CALL is lat_ghost_call, or
 * a copy on a device; NAME(x) gives names. Sums grow. */

LAT_INLINE void NAME(shift)(const CALL *c, INDEX i, V mean)
{
    PUT(c->out, i, GET(c->out, i) - mean);
}

LAT_INLINE void NAME(update)(const CALL *c, INDEX i, V a, V mean)
{
    const V q = GET(c->third, i) - mean, r = GET(c->also, i) - a * q;
    PUT(c->out, i, GET(c->out, i) + a * GET(c->in, i));
    PUT(c->also, i, r);
    PUT(c->third, i, r);
}

LAT_INLINE void NAME(dot)(const CALL *c, INDEX i, V *product)
{
    *product += GET(c->in, i) * GET(c->other, i);
}

LAT_INLINE void NAME(norms)(const CALL *c, INDEX i, V *product, V *square)
{
    const V a = GET(c->in, i);
    *product += a * GET(c->other, i);
    *square += a * a;
}

LAT_INLINE void NAME(extend)(const CALL *c, INDEX i, V b)
{
    PUT(c->out, i, GET(c->in, i) + b * GET(c->out, i));
}

LAT_INLINE void NAME(defect)(const CALL *c, INDEX i, V a, V *square)
{
    const V r = GET(c->other, i) - a * GET(c->in, i);
    PUT(c->out, i, r);
    *square += r * r;
}
