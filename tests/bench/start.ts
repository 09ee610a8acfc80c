// npm run bench:start [-- --save --rounds N]: the compiled program from its spawn to its first answer, in an empty
// folder and on existing data, beside an empty `Bun.serve` of the same size.
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../../scripts/build/program.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { buildEmptyProgram } from './frame/empty-program.ts';
import { request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { residentOf, threadsOf } from './frame/processor.ts';
import { type Figure, publish } from './frame/report.ts';
import { each, interleaved, ratioOf } from './frame/rounds.ts';
import { benchFolder } from './frame/target.ts';

const EMPTY = 'empty Bun.serve of its size';
const FIRST = 'vault, first start';
const SECOND = 'vault, start on existing data';

/** What one start took. */
interface Start {
  readonly ms: number;
  readonly processorMs: number;
  readonly residentMb: number;
}

/** How long a program rests before its memory is read. */
const REST_MS = 300;

/** Short beside what is measured, long enough to leave the processor to the program. */
const RETRY_MS = 0.3;

const options = benchOptions({ rounds: 15 });
const folder = benchFolder();
try {
  const vault = join(folder.path, 'vault');
  await buildProgram(vault);
  const { size } = statSync(vault);
  await measure(vault, await buildEmptyProgram(folder.path, size));
} finally {
  folder.remove();
}

async function measure(vault: string, empty: string): Promise<void> {
  const data = join(folder.path, 'data');
  const onData = () => start(vault, data, '/api/status');
  const findings = await interleaved<Start>(
    [
      { name: EMPTY, run: () => start(empty, folder.path, '/') },
      [
        {
          name: FIRST,
          run() {
            rmSync(data, { recursive: true, force: true });
            mkdirSync(data);
            return onData();
          },
        },
        { name: SECOND, run: onData },
      ],
    ],
    options,
  );
  const beside = findings.get(EMPTY);
  const columns = [
    { title: 'ms', digits: 1 },
    { title: 'of empty', digits: 2 },
    { title: 'processor ms', digits: 1 },
    { title: 'resident MB', digits: 1 },
    { title: 'program MB', digits: 2 },
  ];
  const rows = [...findings].map(([name, all]) => {
    const program = name === EMPTY ? empty : vault;
    const times = [each(all, ({ ms }) => ms), ratioOf(all, beside, ({ ms }) => ms)];
    const rest = [each(all, ({ processorMs }) => processorMs), each(all, ({ residentMb }) => residentMb)];
    return { name, cells: [...times, ...rest, statSync(program).size / 1e6] };
  });
  const time = each(findings.get(SECOND), ({ ms }) => ms);
  const figures: Figure[] = [
    {
      label: `${SECOND}: spawn to first answer`,
      value: time,
      digits: 1,
      unit: ' ms',
      floor: 60,
      atMost: true,
      headline: true,
    },
    {
      label: 'vault, size of the program',
      value: statSync(vault).size / 1e6,
      digits: 1,
      unit: ' MB',
      floor: 119.5,
      atMost: true,
    },
  ];
  const title = 'From spawn to the first answer';
  await publish({ name: 'start', placement: 'all cores', tables: [{ title, columns, rows }], figures }, options);
}

/** Starts the program in a folder, asks it until it answers 200, and stops it. */
async function start(program: string, cwd: string, path: string): Promise<Start> {
  const port = freePort();
  const spawnedAt = performance.now();
  const child = Bun.spawn([program], {
    cwd,
    env: { PORT: `${port}`, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  try {
    while (!(await isAnswered(port, path))) await Bun.sleep(RETRY_MS);
    const ms = performance.now() - spawnedAt;
    const processorMs = threadsOf(child.pid) / 1000;
    await Bun.sleep(REST_MS);
    return { ms, processorMs, residentMb: residentOf(child.pid) / 1e6 };
  } finally {
    child.kill('SIGTERM');
    await child.exited;
  }
}

/** Whether a program at the port answers 200; false as long as none listens. */
async function isAnswered(port: number, path: string): Promise<boolean> {
  const answered = Promise.withResolvers<boolean>();
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => void opened.write(request('GET', path)),
      data: (_, chunk) => answered.resolve(chunk.toString('latin1').startsWith('HTTP/1.1 200 ')),
      close: () => answered.resolve(false),
      error: () => answered.resolve(false),
      connectError: () => answered.resolve(false),
    },
  }).catch(() => undefined);
  if (!socket) return false;
  return answered.promise.finally(() => socket.end());
}
