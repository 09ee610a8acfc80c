import { isPlanned, planOf, scanIn } from '../../support/plans.ts';
import { openTimed } from './timed.ts';
import { walk } from './walk.ts';

/** A text that a vault ran on a file. */
export interface Statement {
  readonly sql: string;
  readonly plan: string;
  readonly micros: number;
  readonly runs: number;
  /** The step that reads a growing table from end to end. */
  readonly scan: string | undefined;
  readonly args: Readonly<Record<string, unknown>>;
}

/** People of a walk. */
const PEOPLE = 150;
/** What runs less often is run again, so that a median says something. */
const RUNS_MIN = 20;

/** Every text that a vault runs on the file, in a process of its own; more people make medians that say more. */
export async function statementsOn(
  path: string,
  registrations: number,
  people = PEOPLE,
): Promise<readonly Statement[]> {
  const command = [process.execPath, import.meta.path, path, String(registrations), String(people)];
  const inside = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  const text = await new Response(inside.stdout).text();
  if ((await inside.exited) !== 0) throw new Error(`the statements on ${path} were not measured`);
  return JSON.parse(text) as Statement[];
}

async function measure(path: string, registrations: number, count: number): Promise<readonly Statement[]> {
  const timed = openTimed(path);
  const people = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * (registrations - 4)));
  // The first time warms what the second asks for.
  await walk(timed.database, people);
  for (const { micros } of timed.runs.values()) micros.length = 0;
  await walk(timed.database, people);
  const found = [...timed.runs].filter(([sql]) => isPlanned(sql));
  for (const [sql, { micros }] of found) if (micros.length < RUNS_MIN) timed.replay(sql, RUNS_MIN + 1);
  const all = found.map(([sql, { micros, args }]) => {
    const plan = planOf(sql);
    return { sql, plan: plan.join('; '), micros: medianOf(micros), runs: micros.length, scan: scanIn(sql, plan), args };
  });
  timed.close();
  return all;
}

function medianOf(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0;
}

if (import.meta.main) {
  const [path = '', registrations = '', people = ''] = process.argv.slice(2);
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  console.log(JSON.stringify(await measure(path, Number(registrations), Number(people)), plain));
}
