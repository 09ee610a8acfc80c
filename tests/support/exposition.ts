/** One sample line as read back. */
export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One family as read back, its samples in the order they stood. */
export interface ReadFamily {
  readonly name: string;
  readonly help: string | undefined;
  readonly type: string | undefined;
  readonly unit: string | undefined;
  readonly samples: readonly ReadSample[];
}

/**
 * Reads a text exposition of either form, character by character and strictly; throws at the first line that is none.
 * Written from the formats' texts, not from the writer.
 */
export function readExposition(text: string): { families: readonly ReadFamily[]; eof: boolean } {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end');
  const families: (ReadFamily & { samples: ReadSample[] })[] = [];
  let eof = false;
  for (const line of text.split('\n').slice(0, -1)) {
    if (eof) throw new Error(`a line after # EOF: ${line}`);
    const meta = /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (line === '# EOF') eof = true;
    else if (meta) {
      const [, kind = '', name = '', rest = ''] = meta;
      if (families.at(-1)?.name !== name) {
        if (families.some((one) => one.name === name)) throw new Error(`${name} stands twice`);
        families.push({ name, help: undefined, type: undefined, unit: undefined, samples: [] });
      }
      Object.assign(families.at(-1) as object, { [kind.toLowerCase()]: kind === 'HELP' ? plain(rest) : rest });
    } else families.at(-1)?.samples.push(readSample(line));
  }
  return { families, eof };
}

function readSample(line: string): ReadSample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  let rest = line.slice(name.length);
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    while (!rest.startsWith('}')) {
      const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=[a-zA-Z_])|(?=\}))/.exec(rest);
      if (!pair) throw new Error(`no label: ${line}`);
      if (Object.hasOwn(labels, pair[1] as string)) throw new Error(`a label twice: ${line}`);
      labels[pair[1] as string] = plain(pair[2] as string);
      rest = rest.slice(pair[0].length);
    }
    rest = rest.slice(1);
  }
  const number = /^ (\+Inf|-Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]\d{2,3})?)$/.exec(rest)?.[1];
  if (number === undefined) throw new Error(`no number: ${line}`);
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) };
}

function plain(text: string): string {
  return text.replace(/\\(["\\n])/g, (_, char) => (char === 'n' ? '\n' : char));
}
