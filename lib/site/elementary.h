/* SPDX-License-Identifier: BSD-3-Clause */
/* elementary.h: logarithm, sine and cosine over LAT_T (template, see real.h), for drawing random
 * numbers: the same text in every lane, on every device. Good to a few ulp of LAT_T. */

#if LAT_WIDTH == 1
#if LAT_SIZE == 4
typedef int32_t LAT_(bits);
typedef uint32_t LAT_(ubits);
#else
typedef int64_t LAT_(bits);
typedef uint64_t LAT_(ubits);
#endif
#else
#if LAT_SIZE == 4
typedef int32_t LAT_(bits) __attribute__((vector_size(sizeof(LAT_T))));
typedef uint32_t LAT_(ubits) __attribute__((vector_size(sizeof(LAT_T))));
#else
typedef int64_t LAT_(bits) __attribute__((vector_size(sizeof(LAT_T))));
typedef uint64_t LAT_(ubits) __attribute__((vector_size(sizeof(LAT_T))));
#endif
#endif

/* ln x for normal x > 0: x = 2^e m with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh s with
 * s = (m - 1)/(m + 1), |s| < 0.172, by its series to s^21 (next term below 1e-18). */
LAT_HD LAT_T LAT_(log)(LAT_T x)
{
#if LAT_SIZE == 4
    const int mantissa = 23, bias = 127;
    const int32_t half = 0x3f3504f3; /* 1/sqrt 2 */
#else
    const int mantissa = 52, bias = 1023;
    const int64_t half = INT64_C(0x3fe6a09e667f3bcd);
#endif
    LAT_(bits) b;
    memcpy(&b, &x, sizeof b);
    (void)bias;
    /* Bits above those of 1/sqrt 2, floored to whole exponents. */
    const LAT_(bits) e = (b - half) >> mantissa;
    const LAT_(ubits) mb = (LAT_(ubits))b - ((LAT_(ubits))e << mantissa);
    LAT_T m, exponent;
    memcpy(&m, &mb, sizeof m);
#if LAT_WIDTH == 1
    exponent = (LAT_T)e;
#else
    exponent = __builtin_convertvector(e, LAT_T);
#endif
    const LAT_T one = LAT_(set)(1), s = (m - one) / (m + one), z = s * s;
    LAT_T p = LAT_(set)((LAT_S)(2.0 / 21));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 19));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 17));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 15));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 13));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 11));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 9));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 7));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 5));
    p = p * z + LAT_(set)((LAT_S)(2.0 / 3));
    p = p * z + LAT_(set)(2);
    return exponent * LAT_(set)((LAT_S)0.69314718055994530942) + s * p;
}

/* e^x for -80 < x <= 0 in single, -700 < x <= 0 in double: 2^n e^r with |r| <= ln 2 / 2, by the series of
 * e^r to r^13 (next term below 5e-18). */
LAT_HD LAT_T LAT_(exp)(LAT_T x)
{
    const LAT_S magic = LAT_SIZE == 4 ? (LAT_S)12582912.0 : (LAT_S)6755399441055744.0; /* 1.5 * 2^mantissa: rounds */
    const int mantissa = LAT_SIZE == 4 ? 23 : 52;
    const LAT_T shifted = x * LAT_(set)((LAT_S)1.44269504088896340736) + LAT_(set)(magic), n = shifted - LAT_(set)(magic);
    const LAT_T r = (x - n * LAT_(set)((LAT_S)0.693145751953125)) - n * LAT_(set)((LAT_S)1.42860682030941723212e-6);
    LAT_T p = LAT_(set)((LAT_S)(1.0 / 6227020800.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 479001600.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 39916800.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 3628800.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 362880.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 40320.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 5040.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 720.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 120.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 24.0));
    p = p * r + LAT_(set)((LAT_S)(1.0 / 6.0));
    p = p * r + LAT_(set)((LAT_S)0.5);
    p = p * r + LAT_(set)(1);
    p = p * r + LAT_(set)(1);
    /* The low bits of `shifted` are n: added to the exponent. */
    const LAT_T zero = LAT_(set)(magic);
    LAT_(ubits) a, b, c;
    memcpy(&a, &shifted, sizeof a);
    memcpy(&b, &zero, sizeof b);
    memcpy(&c, &p, sizeof c);
    c += (a - b) << mantissa;
    memcpy(&p, &c, sizeof p);
    return p;
}

/* sin and cos of 2 pi u for u in (0, 1): v = u - 1/2 in (-1/2, 1/2); from the series of sin and cos of
 * pi v / 2 in |pi v / 2| < pi/4, the angle doubled twice. sin 2 pi u = - sin 2 pi v, and so cos. */
LAT_HD void LAT_(turn)(LAT_T u, LAT_T *sine, LAT_T *cosine)
{
    const LAT_T x = (u - LAT_(set)((LAT_S)0.5)) * LAT_(set)((LAT_S)1.57079632679489661923), z = x * x;
    LAT_T s = LAT_(set)((LAT_S)(1.0 / 355687428096000.0)), c = LAT_(set)((LAT_S)(1.0 / 20922789888000.0));
    s = s * z - LAT_(set)((LAT_S)(1.0 / 1307674368000.0));
    s = s * z + LAT_(set)((LAT_S)(1.0 / 6227020800.0));
    s = s * z - LAT_(set)((LAT_S)(1.0 / 39916800.0));
    s = s * z + LAT_(set)((LAT_S)(1.0 / 362880.0));
    s = s * z - LAT_(set)((LAT_S)(1.0 / 5040.0));
    s = s * z + LAT_(set)((LAT_S)(1.0 / 120.0));
    s = s * z - LAT_(set)((LAT_S)(1.0 / 6.0));
    s = s * z + LAT_(set)(1);
    s = s * x;
    c = c * z - LAT_(set)((LAT_S)(1.0 / 87178291200.0));
    c = c * z + LAT_(set)((LAT_S)(1.0 / 479001600.0));
    c = c * z - LAT_(set)((LAT_S)(1.0 / 3628800.0));
    c = c * z + LAT_(set)((LAT_S)(1.0 / 40320.0));
    c = c * z - LAT_(set)((LAT_S)(1.0 / 720.0));
    c = c * z + LAT_(set)((LAT_S)(1.0 / 24.0));
    c = c * z - LAT_(set)((LAT_S)0.5);
    c = c * z + LAT_(set)(1);
    for (int i = 0; i < 2; i++) {
        const LAT_T t = LAT_(set)(2) * s * c;
        c = LAT_(set)(1) - LAT_(set)(2) * s * s;
        s = t;
    }
    *sine = LAT_(set)(0) - s;
    *cosine = LAT_(set)(0) - c;
}

/* sqrt a for a >= 0. */
LAT_HD LAT_T LAT_(root)(LAT_T a)
{
    const LAT_T tiny = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-30 : (LAT_S)1e-200);
    const LAT_T b = LAT_(where_gt)(a, tiny, a, tiny);
    return LAT_(where_gt)(a, tiny, b * LAT_(rsqrt)(b), LAT_(set)(0));
}
