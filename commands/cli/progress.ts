/** The pause between two lines of progress. */
const PROGRESS_LINE_MS = 5_000;

/** Shows progress on standard error: one line that is overwritten on a terminal, otherwise a line from time to time. */
export interface Progress {
  say(text: string): void;
  end(): void;
}

/** Creates a progress line. Work that ends before the first message prints nothing. */
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

/** `1 row`, `2 rows`, `0 rows`: a count with its noun. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
