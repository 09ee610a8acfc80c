import type { Environment, Output, Paint } from './colour.ts';

/** Lines are as wide as the terminal, within readable bounds; 80 where the output is not a terminal. */
const WIDTH = 80;
const WIDTH_MIN = 40;
const WIDTH_MAX = 120;

/** How many columns a line may have: `COLUMNS`, else the terminal's width, else 80. */
export function widthOf(output: Output = process.stdout, { COLUMNS }: Environment = process.env): number {
  const given = /^[1-9]\d{0,4}$/.test(COLUMNS ?? '') ? Number(COLUMNS) : undefined;
  const columns = given ?? (output.isTTY ? output.columns : undefined) ?? WIDTH;
  return Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, columns));
}

/** Breaks a text into lines at its blanks. A longer word has a line of its own, so that it can be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** A text that begins with `head` and goes on below its own first word. */
export function hang(head: string, text: string, width: number): string[] {
  const [first = '', ...rest] = wrap(text, Math.max(WIDTH_MIN / 2, width - head.length));
  return [`${head}${first}`.trimEnd(), ...rest.map((line) => `${' '.repeat(head.length)}${line}`)];
}

/**
 * Names with their meanings, in two columns. A name that is longer than its share of the width has a line of its own.
 */
export function columns(
  rows: readonly (readonly [name: string, text: string])[],
  width: number,
  paint: Paint,
  share = 0.33,
): string[] {
  const nameMax = Math.floor(width * share);
  const fitting = rows.map(([name]) => name.length).filter((length) => length <= nameMax);
  const column = Math.max(...fitting, 8) + 2;
  return rows.flatMap(([name, text]) => {
    const indent = ' '.repeat(column + 2);
    const [first = '', ...rest] = wrap(text, width - indent.length);
    const below = rest.map((line) => indent + line);
    const head = `  ${paint.cyan(name)}`;
    if (name.length > nameMax) return [head, ...[first, ...rest].map((line) => indent + line)];
    return [`${head}${' '.repeat(column - name.length)}${first}`.trimEnd(), ...below];
  });
}
