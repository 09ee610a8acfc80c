/** The size of a drawing in its own units. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A bar of a chart. */
export interface Bar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The top of a scale for `max`: 1, 2 or 5 times a power of ten, so that it does not jump; at least 1. */
export function niceTop(max: number): number {
  if (!(max > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  const steps = [1, 2, 5, 10].map((step) => step * power);
  return steps.find((step) => step >= max) ?? 10 * power;
}

/** One bar per value, the newest at the right edge of `slots` places. A value above 0 is at least one unit high. */
export function bars(values: readonly number[], slots: number, { width, height }: Size): readonly Bar[] {
  const top = niceTop(Math.max(0, ...values));
  const slot = width / slots;
  const shown = values.slice(-slots);
  return shown.map((value, i) => {
    const high = value > 0 ? Math.max(1, (Math.min(value, top) / top) * height) : 0;
    return { x: width - (shown.length - i) * slot, y: height - high, width: Math.max(0.5, slot * 0.8), height: high };
  });
}

/** The SVG path of a line through the values, the newest at the right edge, with gaps for null. `top` is its scale. */
export function line(values: readonly (number | null)[], slots: number, top: number, { width, height }: Size): string {
  const slot = width / slots;
  const shown = values.slice(-slots);
  let path = '';
  let isDrawing = false;
  shown.forEach((value, i) => {
    if (value === null) {
      isDrawing = false;
      return;
    }
    const x = width - (shown.length - i - 0.5) * slot;
    const y = height - (Math.min(value, top) / top) * height;
    // A single value between two gaps is drawn as a short dash.
    path += isDrawing ? `L${round(x)} ${round(y)}` : `M${round(x - slot * 0.4)} ${round(y)}L${round(x)} ${round(y)}`;
    isDrawing = true;
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
