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

/** The round values of an axis up to a `niceTop`: nothing, half where that is a whole number, and the top. */
export function ticks(top: number): readonly number[] {
  return Number.isInteger(top / 2) ? [0, top / 2, top] : [0, top];
}

/** One bar per value, none for null. A value above 0 is at least one unit high. */
export function bars(values: readonly (number | null)[], top: number, { width, height }: Size): readonly Bar[] {
  const slot = width / values.length;
  return values.flatMap((value, i) => {
    if (value === null) return [];
    const high = value > 0 ? Math.max(1, (Math.min(value, top) / top) * height) : 0;
    return [{ x: round(i * slot), y: round(height - high), width: round(slot * 0.8), height: round(high) }];
  });
}

/** The SVG path of a line through the values, with gaps for null. `top` is its scale. */
export function line(values: readonly (number | null)[], top: number, { width, height }: Size): string {
  const slot = width / values.length;
  let path = '';
  let isDrawing = false;
  values.forEach((value, i) => {
    if (value === null) {
      isDrawing = false;
      return;
    }
    const x = (i + 0.5) * slot;
    const y = height - (Math.min(value, top) / top) * height;
    // A single value between two gaps is drawn as a short dash.
    path += isDrawing ? `L${round(x)} ${round(y)}` : `M${round(x - slot * 0.4)} ${round(y)}L${round(x)} ${round(y)}`;
    isDrawing = true;
  });
  return path;
}

/** The SVG path of the ground below what is known: zero is drawn as zero, and no data as a gap. */
export function ground(values: readonly (number | null)[], { width, height }: Size): string {
  const slot = width / values.length;
  return values
    .flatMap((value, i) =>
      value === null || (i > 0 && values[i - 1] !== null)
        ? []
        : [`M${round(i * slot)} ${height}H${round(endOf(values, i) * slot)}`],
    )
    .join('');
}

function endOf(values: readonly (number | null)[], from: number): number {
  const end = values.indexOf(null, from);
  return end === -1 ? values.length : end;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
