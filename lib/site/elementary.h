/* SPDX-License-Identifier: BSD-3-Clause */
/* elementary.h: logarithm, exponential, sine, cosine and square root over LAT_T (template, see
 * real.h), for drawing random numbers. One text for all lanes and devices; good to a few ulp.
 *
 * The polynomials interpolate at Chebyshev nodes, computed with 60 digits. Their relative error is
 * below 2^-57 in double and 2^-27 in single precision. */

/* LAT_(bits): the bits of LAT_T. */
#if LAT_WIDTH == 1
#if LAT_SIZE == 4
typedef uint32_t LAT_(bits);
#else
typedef uint64_t LAT_(bits);
#endif
#else
#if LAT_SIZE == 4
typedef uint32_t LAT_(bits) __attribute__((vector_size(sizeof(LAT_T))));
#else
typedef uint64_t LAT_(bits) __attribute__((vector_size(sizeof(LAT_T))));
#endif
#endif

LAT_HOST_DEVICE LAT_(bits) LAT_(to_bits)(LAT_T x)
{
    LAT_(bits) b;
    memcpy(&b, &x, sizeof b);
    return b;
}

LAT_HOST_DEVICE LAT_T LAT_(of_bits)(LAT_(bits) b)
{
    LAT_T x;
    memcpy(&x, &b, sizeof x);
    return x;
}

#define LAT_MANTISSA (LAT_SIZE == 4 ? 23 : 52)
#define LAT_BIAS (LAT_SIZE == 4 ? 127 : 1023)
/* 1.5 * 2^mantissa. Adding it rounds a number to an integer, which is then in the low bits. */
#define LAT_MAGIC (LAT_SIZE == 4 ? (LAT_S)12582912.0 : (LAT_S)6755399441055744.0)

/* c[0] x^(n-1) + ... + c[n-1] */
LAT_HOST_DEVICE LAT_T LAT_(polynomial)(LAT_T x, const LAT_S *c, int n)
{
    LAT_T p = LAT_(set)(c[0]);
    for (int i = 1; i < n; i++)
        p = p * x + LAT_(set)(c[i]);
    return p;
}
#define LAT_POLYNOMIAL(x, c) LAT_(polynomial)(x, c, sizeof(c) / sizeof *(c))

/* ln x for normal x > 0: x = 2^e m with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh s with
 * s = (m - 1)/(m + 1), |s| < 0.172, of which 2 atanh(s)/s is a polynomial in s^2. */
LAT_HOST_DEVICE LAT_T LAT_(log)(LAT_T x)
{
#if LAT_SIZE == 4
    const LAT_S c[] = {0.2992453037f, 0.3997484538f, 0.6666681538f, 1.999999999f};
    const uint32_t half = 0x3f3504f3, bias = LAT_BIAS; /* 1/sqrt 2 */
#else
    const LAT_S c[] = {
        0.148098675723130627, 0.153125131147382979, 0.18183632241617025,  0.222221970464042728,
        0.285714287607382805, 0.39999999999301912,  0.666666666666676464, 2.0};
    const uint64_t half = UINT64_C(0x3fe6a09e667f3bcd), bias = LAT_BIAS;
#endif
    /* e + bias: the bits beyond the bits of 1/sqrt 2, rounded down to whole exponents. */
    const LAT_(bits) b = LAT_(to_bits)(x), e = (b - half + (bias << LAT_MANTISSA)) >> LAT_MANTISSA;
    const LAT_T m = LAT_(of_bits)(b + (bias << LAT_MANTISSA) - (e << LAT_MANTISSA));
    const LAT_T exponent = LAT_(of_bits)(LAT_(to_bits)(LAT_(set)(LAT_MAGIC)) + e)
                           - LAT_(set)(LAT_MAGIC + LAT_BIAS);
    const LAT_T one = LAT_(set)(1), s = (m - one) / (m + one);
    return exponent * LAT_(set)((LAT_S)0.69314718055994530942) + s * LAT_POLYNOMIAL(s * s, c);
}

/* e^x for -80 < x <= 0 in single, -700 < x <= 0 in double: 2^n e^r with |r| <= ln 2 / 2. */
LAT_HOST_DEVICE LAT_T LAT_(exp)(LAT_T x)
{
#if LAT_SIZE == 4
    const LAT_S c[] = {0.00139411189f,
                       0.008375134775f,
                       0.04166635277f,
                       0.1666641541f,
                       0.5000000047f,
                       1.000000038f,
                       1.0f};
#else
    const LAT_S c[] = {2.51100492048186598e-8,
                       2.76326547225277919e-7,
                       2.75572408872298686e-6,
                       0.000024801485441561313,
                       0.000198412698900764028,
                       0.00138888889523528629,
                       0.00833333333331958962,
                       0.0416666666664879525,
                       0.166666666666666808,
                       0.50000000000000184,
                       1.0,
                       1.0};
#endif
    const LAT_T magic = LAT_(set)(LAT_MAGIC),
                shifted = x * LAT_(set)((LAT_S)1.44269504088896340736) + magic, n = shifted - magic;
    const LAT_T r = (x - n * LAT_(set)((LAT_S)0.693145751953125))
                    - n * LAT_(set)((LAT_S)1.42860682030941723212e-6);
    /* The low bits of `shifted` are n: added to the exponent. */
    const LAT_(bits) power = LAT_(to_bits)(shifted) - LAT_(to_bits)(magic);
    return LAT_(of_bits)(LAT_(to_bits)(LAT_POLYNOMIAL(r, c)) + (power << LAT_MANTISSA));
}

/* sin pi v and cos pi v for |v| <= 1/2. */
LAT_HOST_DEVICE LAT_T LAT_(sine)(LAT_T v)
{
#if LAT_SIZE == 4
    const LAT_S c[] = {0.07765591228f, -0.5982904113f, 2.550077387f, -5.167710077f, 3.14159264f};
#else
    const LAT_S c[] = {7.69782676822419065e-7, -0.0000219034970746260172, 0.00046629981618983938,
                       -0.0073704305059169434, 0.082145886573102895,      -0.599264529318944681,
                       2.55016403987730047,    -5.16771278004996961,      3.14159265358979324};
#endif
    return v * LAT_POLYNOMIAL(v * v, c);
}

LAT_HOST_DEVICE LAT_T LAT_(cosine)(LAT_T v)
{
#if LAT_SIZE == 4
    const LAT_S c[] = {-0.0243959321f, 0.2349370686f, -1.335211949f,
                       4.058709155f,   -4.934802137f, 1.0f};
#else
    const LAT_S c[] = {-1.34352129509532007e-7,  4.30072417273484693e-6,
                       -0.000104637416817521383, 0.00192957418728123483,
                       -0.025806891376592964,    0.23533063035799502,
                       -1.33526276885455496,     4.05871212641676754,
                       -4.9348022005446793,      1.0};
#endif
    return LAT_POLYNOMIAL(v * v, c);
}

/* sin and cos of 2 pi u for u in (0, 1). With v = u - 1/2 they are - sin 2 pi v and - cos 2 pi v,
 * by the double-angle formulas. */
LAT_HOST_DEVICE void LAT_(sincos_2pi)(LAT_T u, LAT_T *sine, LAT_T *cosine)
{
    const LAT_T v = u - LAT_(set)((LAT_S)0.5), s = LAT_(sine)(v), two = LAT_(set)(2);
    *sine = LAT_(set)(-2) * s * LAT_(cosine)(v);
    *cosine = two * s * s - LAT_(set)(1);
}

/* sqrt a; 0 where a <= 0, which is rounding. */
LAT_HOST_DEVICE LAT_T LAT_(sqrt)(LAT_T a)
{
    const LAT_T tiny = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-30 : (LAT_S)1e-200);
    const LAT_T b = LAT_(where_gt)(a, tiny, a, tiny);
    return LAT_(where_gt)(a, tiny, b * LAT_(rsqrt)(b), LAT_(set)(0));
}
