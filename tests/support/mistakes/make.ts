import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../databases.ts';
import { resultOf, startUpstream } from '../upstream.ts';
import type { Mistake } from './mistake.ts';

/** How long a warning may take to come. */
const WARNING_MS = 60_000;

/** What mistakes are made of that are not in the vault: a node of Base Sepolia and a port in use. */
export function startSurroundings() {
  const node = startUpstream();
  node.answer = (call) => resultOf(call, call.body.method === 'eth_chainId' ? '0x14a34' : null);
  const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  return {
    node: node.url,
    taken: String(taken.port),
    async stop() {
      await Promise.all([node.stop(), taken.stop(true)]);
    },
  };
}

/** What came of a mistake: all that was printed, and the exit code, `goes on` if it served until it was stopped. */
export interface Made {
  readonly printed: string;
  readonly exit: Mistake['exit'] | number;
}

/** Makes a mistake in a folder of its own, with nothing else in the environment. */
export async function make(
  mistake: Mistake,
  { binary, node, taken }: { binary: string; node: string; taken: string },
): Promise<Made & { readonly says: readonly string[] }> {
  const folder = temporaryFolder();
  const free = String(await freePort());
  const fill = (text: string) =>
    text
      .replaceAll('{folder}', folder.path)
      .replaceAll('{node}', node)
      .replaceAll('{taken}', taken)
      .replaceAll('{free}', free);
  for (const [name, content] of Object.entries(mistake.files ?? {})) {
    writeFileSync(join(folder.path, name), content);
    chmodSync(join(folder.path, name), mistake.mode ?? 0o600);
  }
  const vars = { PORT: '0', LOG_FORMAT: 'json', ...mistake.beside, ...mistake.vars };
  const hasPort = /--port|PORT=|prot/.test(`${mistake.args} ${JSON.stringify(mistake.files ?? {})}`);
  const env = Object.fromEntries(
    Object.entries(vars)
      .filter(([name]) => name !== 'PORT' || !hasPort || mistake.vars?.['PORT'] !== undefined)
      .map(([name, text]) => [name, fill(text)]),
  );
  const says = mistake.says.map(fill);
  const args = (mistake.args ?? 'serve').split(' ');
  const child = Bun.spawn([binary, ...args], {
    cwd: folder.path,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  try {
    return { ...(await watch(child, says, mistake.exit)), says };
  } finally {
    child.kill('SIGKILL');
    await child.exited;
    folder.remove();
  }
}

/** Reads what it prints. One that is to go on is stopped once it has said everything. */
async function watch(
  child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>,
  says: readonly string[],
  exit: Mistake['exit'],
): Promise<Made> {
  let printed = '';
  const said = Promise.withResolvers<void>();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      printed += decoder.decode(chunk, { stream: true });
      if (exit === 'goes on' && printed.includes('"listening"') && says.every((one) => printed.includes(one)))
        said.resolve();
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const timer = setTimeout(() => said.resolve(), WARNING_MS);
  const ended = child.exited.then((code) => code as number);
  const first = await Promise.race([ended, said.promise.then(() => 'goes on' as const)]);
  clearTimeout(timer);
  if (first === 'goes on') child.kill('SIGTERM');
  const code = await ended;
  await reading;
  return { printed, exit: first === 'goes on' && code === 0 ? first : code };
}
