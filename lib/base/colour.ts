/** A colour as sRGB, each part from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Reads `#rgb` or `#rrggbb`; undefined for any other text. */
export function parseColour(text: string): Rgb | undefined {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const long = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  const part = (at: number) => Number.parseInt(long.slice(at, at + 2), 16);
  return [part(0), part(2), part(4)];
}

/** `#rrggbb`. */
export function colourText(colour: Rgb): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** The contrast of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** `share` of one colour, from 0 to 1, and the rest of the other. */
export function mixColours(one: Rgb, other: Rgb, share: number): Rgb {
  const mix = (at: 0 | 1 | 2) => Math.round(one[at] * share + other[at] * (1 - share));
  return [mix(0), mix(1), mix(2)];
}

/** The colour itself if its contrast to each background is enough, else the nearest one on the way to the other end. */
export function readableColour(colour: Rgb, towards: Rgb, backgrounds: readonly Rgb[], wanted: number): Rgb {
  let found = colour;
  for (let share = 1; share >= 0 && !backgrounds.every((one) => contrast(found, one) >= wanted); share -= 0.02)
    found = mixColours(colour, towards, share);
  return found;
}

function luminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
