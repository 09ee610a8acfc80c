/** The variables that say how to write to a terminal. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The properties of an output stream that are read. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Whether to write in colour: on a terminal that is not dumb, unless `NO_COLOR` is set (no-color.org). `FORCE_COLOR`
 * wins over both, and 0 means no.
 */
export function isColourful(
  output: Output = process.stdout,
  { FORCE_COLOR, NO_COLOR, TERM }: Environment = process.env,
): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return output.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

/** Escapes of ECMA-48 (SGR): how each begins and ends. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Puts a text into a style; without colour the text stays as it is. */
export type Paint = Readonly<Record<keyof typeof STYLES, (text: string) => string>>;

/** The styles, in effect or not. */
export function createPaint(isOn: boolean): Paint {
  const styles = Object.entries(STYLES).map(([name, [begin, end]]) => [
    name,
    (text: string) => (isOn && text !== '' ? `\x1b[${begin}m${text}\x1b[${end}m` : text),
  ]);
  return Object.fromEntries(styles);
}
