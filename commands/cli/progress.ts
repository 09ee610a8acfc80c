/** The pause between two lines of progress. */
const PROGRESS_LINE_MS = 5_000;

/** Says on standard error how long work gets on: in one line that is written over on a terminal, else in a line now and then. */
export interface Progress {
  say(text: string): void;
  end(): void;
}

/** Starts silent; work that is over before there is anything to say leaves nothing. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let saidAt = performance.now();
  let width = 0;
  return {
    say(text) {
      if (stream.isTTY) {
        stream.write(`\r${text.padEnd(width)}`);
        width = text.length;
      } else if (performance.now() - saidAt >= PROGRESS_LINE_MS) {
        stream.write(`${text}\n`);
        saidAt = performance.now();
      }
    },
    end() {
      if (width > 0) stream.write(`\r${' '.repeat(width)}\r`);
      width = 0;
    },
  };
}

/** `1 row`, `2 rows`, `0 rows`: a count and what is counted, in words. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
