// FIPS 197 section 4: the field GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, without tables and without branches on its
// elements.

/** The product. */
export function multiply(a: u32, b: u32): u32 {
  let product: u32 = 0;
  for (let i = 0; i < 8; i++) {
    product ^= a & (0 - (b & 1));
    b >>= 1;
    a = (a << 1) ^ (0x11b & (0 - (a >> 7)));
  }
  return product;
}

/** The inverse, a^254; zero of zero. */
export function invert(a: u32): u32 {
  let power = a;
  // 254 is 11111110 in binary.
  for (let i = 0; i < 6; i++) power = multiply(multiply(power, power), a);
  return multiply(power, power);
}
