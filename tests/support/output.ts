/** How a program ended and what it said. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end, in this process's directory and environment where no other is given. */
export async function runToEnd(
  command: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    // A `Response` would count as under way (`count-natives.ts`), and hold a test's clock until the program ends.
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
    child.exited,
  ]);
  return { code, out, err };
}

/** What a process prints up to a text; it is read on, as a full pipe would stop it. Rejects if it ends before. */
export async function outputUntil(stream: ReadableStream<Uint8Array>, wanted: string): Promise<string> {
  const said = Promise.withResolvers<void>();
  let output = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true });
      if (output.includes(wanted)) said.resolve();
    }
    said.reject(new Error(`it ended:\n${output}`));
  };
  void read();
  await said.promise;
  return output;
}
