import { until } from './until.ts';

/** A program at a terminal of its own, of 100 columns, and a person at its keys. */
export interface AtTerminal {
  /** Waits until the program has written the text since the last answer, and types one, with Enter. */
  answer(asked: string | RegExp, text: string): Promise<void>;
  /** Waits for a text as `answer` does; resolves with what was written up to its end. */
  shows(wanted: string | RegExp): Promise<string>;
  type(keys: string): void;
  /** All that was written, without escapes. */
  output(): string;
  readonly exited: Promise<number>;
  stop(): Promise<void>;
}

/** Ctrl+C, as a terminal sends it. */
export const CTRL_C = '\x03';

/** Escapes of ECMA-48 (CSI), with which an editor of lines moves and colours. */
const ESCAPES = /\x1b\[[0-9;?]*[A-Za-z]/g;

/** Starts a program at a pseudo-terminal, with nothing in its environment but `vars`. */
export function startAtTerminal(
  command: readonly string[],
  { cwd, vars = {} }: { readonly cwd: string; readonly vars?: Readonly<Record<string, string>> },
): AtTerminal {
  const decoder = new TextDecoder();
  let raw = '';
  let seen = 0;
  const child = Bun.spawn([...command], {
    cwd,
    env: { TERM: 'xterm', NO_COLOR: '1', BUN_FEATURE_FLAG_NO_ORPHANS: '1', ...vars },
    terminal: {
      cols: 100,
      rows: 40,
      data(_, chunk) {
        raw += decoder.decode(chunk, { stream: true });
      },
    },
  });
  const output = () => raw.replace(ESCAPES, '').replaceAll('\r\n', '\n');
  const shows = async (wanted: string | RegExp) => {
    const find = () => {
      const text = output().slice(seen);
      const found = typeof wanted === 'string' ? text.indexOf(wanted) : text.search(wanted);
      const length = typeof wanted === 'string' ? wanted.length : (wanted.exec(text)?.[0].length ?? 0);
      return found < 0 ? undefined : { end: seen + found + length };
    };
    const { end } = await until(`${wanted}`, find).catch((error) => {
      throw new Error(`${error.message}, in\n${output().slice(seen)}`);
    });
    const text = output().slice(seen, end);
    seen = end;
    return text;
  };
  const type = (keys: string) => void child.terminal?.write(keys);
  return {
    shows,
    type,
    output,
    exited: child.exited,
    async answer(asked, text) {
      await shows(asked);
      type(`${text}\r`);
    },
    async stop() {
      child.kill('SIGKILL');
      await child.exited;
      child.terminal?.close();
    },
  };
}
