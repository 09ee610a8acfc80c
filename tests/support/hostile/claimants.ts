import type { Database } from '../../../lib/db/database.ts';
import type { Program } from '../program.ts';
import { until, untilNothing } from '../until.ts';

/** What a vault acknowledged to its clients, who ask again until they have an answer that decides. */
export interface Acknowledged {
  /** The DID by the handle whose session was opened. */
  readonly sessions: Map<string, string>;
  /** Addresses whose code verified, and how often that was answered. */
  readonly verified: Map<string, number>;
  /** How many answers there were of each status. */
  readonly statuses: Map<number, number>;
}

/** The clients of one or several vaults on one database. */
export interface Claimants {
  readonly acknowledged: Acknowledged;
  /** So many clients claim until they are asked to end; resolves when the last has its answer. */
  run(clients: number): Promise<void>;
  end(): void;
}

const PAUSE_MS = 20;

/**
 * Clients that ask one of the programs, a next one each time; `name` tells them from others of the database. Each claim
 * has a number and an address of its own, from `first` on.
 */
export function createClaimants(programs: () => readonly Program[], name: string, first = 0): Claimants {
  const acknowledged: Acknowledged = { sessions: new Map(), verified: new Map(), statuses: new Map() };
  let isOver = false;
  let asked = 0;

  async function post(path: string, ip: string, body: object): Promise<Answer> {
    const all = programs();
    const program = all[asked++ % all.length];
    const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    // One that is killed may have sent half of its answer.
    const answer = await fetch(`${program?.url}${path}`, init)
      .then(answerOf)
      .catch(() => NO_ANSWER);
    acknowledged.statuses.set(answer.status, (acknowledged.statuses.get(answer.status) ?? 0) + 1);
    return answer;
  }

  /** Asks until the answer is no failure of the vault's. */
  async function insist(path: string, ip: string, body: object): Promise<Answer> {
    for (;;) {
      const answer = await post(path, ip, body);
      if (answer.status > 0 && answer.status < 500) return answer;
      await Bun.sleep(PAUSE_MS);
    }
  }

  /** The code that was printed; none where who printed it is gone. */
  async function printedCode(to: string): Promise<string | undefined> {
    for (let looks = 0; looks < 50; looks++) {
      const code = codeIn(programs(), to);
      if (code !== undefined) return code;
      await Bun.sleep(PAUSE_MS);
    }
    return undefined;
  }

  /** A session, and an address that is verified by two checks at once. */
  async function claim(n: number): Promise<void> {
    const ip = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
    const [handle, did] = [`${name}${n}`, `did:key:z${name}${n}`];
    const opened = await insist('/api/sessions', ip, { handle, did });
    if (opened.status === 200) acknowledged.sessions.set(handle, did);
    const who = { identifier: `${name}${n}@example.com`, channel: 'email' };
    const sent = await insist('/api/verify/send', ip, who);
    const code = sent.status === 200 && (await printedCode(who.identifier));
    if (!code) return;
    const check = () => insist('/api/verify/check', ip, { ...who, code });
    for (const { body } of await Promise.all([check(), check()])) {
      if (body['verified'] !== true) continue;
      acknowledged.verified.set(who.identifier, (acknowledged.verified.get(who.identifier) ?? 0) + 1);
    }
  }

  let next = first;
  const client = async () => {
    while (!isOver) await claim(next++);
  };
  return {
    acknowledged,
    run: async (clients) => void (await Promise.all(Array.from({ length: clients }, client))),
    end() {
      isOver = true;
    },
  };
}

/** Waits until so many more sessions are acknowledged than now. */
export function untilOpened({ acknowledged: { sessions } }: Claimants, more: number): Promise<void> {
  const wanted = sessions.size + more;
  return untilNothing(`${more} more sessions are acknowledged`, () =>
    sessions.size >= wanted ? [] : [`${wanted - sessions.size} sessions`],
  );
}

/** Waits until so many addresses are verified, of any. */
export function untilVerified({ acknowledged: { verified } }: Claimants, count: number): Promise<unknown> {
  return until(`${count} addresses are verified`, () => verified.size >= count);
}

/** Waits until so many more requests are answered 503 than now. */
export function untilRefused({ acknowledged: { statuses } }: Claimants, more: number): Promise<unknown> {
  const refused = () => statuses.get(503) ?? 0;
  const wanted = refused() + more;
  return until(`${more} more requests are refused`, () => refused() >= wanted);
}

/** What of it the database has lost or doubled: all empty of one that keeps its word. */
export async function auditClaims(database: Database, { sessions, verified }: Acknowledged) {
  const column = async (sql: string) =>
    (await database.execute({ sql, args: {} })).rows.map((row) => String(row['found']));
  const opened = new Set(await column(`SELECT identifier || ' ' || did AS found FROM sessions`));
  const proven = new Set(await column('SELECT identifier AS found FROM verifications WHERE verified_at IS NOT NULL'));
  const used = await column('SELECT identifier AS found FROM codes WHERE consumed_at IS NOT NULL');
  const created = await column(
    `SELECT json_extract(data, '$.did') AS found FROM events WHERE type = 'session.created'`,
  );
  const [verifications] = await column(`SELECT count(*) AS found FROM events WHERE type = 'code.verified'`);
  return {
    lostSessions: [...sessions].filter(([handle, did]) => !opened.has(`handle:${handle} ${did}`)),
    lostVerifications: [...verified.keys()].filter((address) => !proven.has(`email:${address}`)),
    twiceVerified: [...verified].filter(([, times]) => times > 1),
    doubledEvents: created.filter((did, i) => created.indexOf(did) !== i),
    sessionsWithoutEvent: opened.size - created.length,
    verificationsWithoutEvent: used.length - Number(verifications),
  };
}

/** What `auditClaims` finds where nothing is wrong. */
export const NOTHING_WRONG: Awaited<ReturnType<typeof auditClaims>> = {
  lostSessions: [],
  lostVerifications: [],
  twiceVerified: [],
  doubledEvents: [],
  sessionsWithoutEvent: 0,
  verificationsWithoutEvent: 0,
};

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const NO_ANSWER: Answer = { status: 0, body: {} };

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The codes that a program printed so far, by their addresses, and how much of its output they are from. */
interface Printed {
  read: number;
  readonly codes: Map<string, { readonly time: string; readonly code?: string }>;
}

const printed = new WeakMap<Program, Printed>();

/** Reads only what came since: a look at all that a busy program printed takes longer than its answers. */
function printedBy(program: Program): Printed['codes'] {
  const known = printed.get(program) ?? { read: 0, codes: new Map() };
  printed.set(program, known);
  const output = program.output();
  for (const line of output.slice(known.read).split('\n')) {
    if (!line.includes('"event":"code"')) continue;
    const entry = JSON.parse(line) as { to: string; time: string; code?: string };
    known.codes.set(entry.to, entry);
  }
  known.read = output.length;
  return known.codes;
}

/** The code that was printed for an address last. */
function codeIn(programs: readonly Program[], to: string): string | undefined {
  const newest = programs.flatMap((program) => printedBy(program).get(to) ?? []);
  return newest.toSorted((a, b) => (a.time < b.time ? -1 : 1)).at(-1)?.code;
}
