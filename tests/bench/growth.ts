// npm run bench:growth [-- --save --sizes 400]: what a finished registration leaves in the database. Real registrations
// through a vault on a chain of its own, each confirmed and final; then the clock moves on until all that expires is
// swept. The half and the whole of them are compared, so that what an empty database has does not count.
import { Database as Connection } from 'bun:sqlite';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { createPeople, type People, type Person } from '../support/people.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import { benchOptions } from './frame/options.ts';
import { publish, type Table } from './frame/report.ts';
import { progress } from './frame/rounds.ts';

const DAY_MS = 86_400_000;
const AT_ONCE = 8;
const options = benchOptions({ sizes: [400], rounds: 1 });
const [registrations = 0] = options.sizes;

const KINDS = [
  { name: 'an email address, with a passkey proof', channel: 'email', proof: true },
  { name: 'a phone number, without a proof', channel: 'sms', proof: false },
  { name: 'a handle, with its session', channel: 'handle', proof: true },
] as const;
type Kind = (typeof KINDS)[number];

/** Bytes of the pages in use, by table with its indexes. */
type Sizes = ReadonlyMap<string, number>;

let creating: Promise<unknown> = Promise.resolve();
const chain = await startTestChain();
const grown: { kind: Kind; sizes: Sizes }[] = [];
for (const kind of KINDS) grown.push({ kind, sizes: await growth(chain, kind) });
await chain.stop();
const totals = grown.map(({ sizes }) => sum(sizes));
const mean = totals.reduce((all, one) => all + one, 0) / totals.length;
await publish(
  {
    name: 'growth',
    tables: [table()],
    figures: [{ label: 'bytes of a finished registration, the mean of these kinds', value: mean, digits: 0 }],
    placement: 'all cores',
  },
  options,
);
process.exit(0);

/** What one of them leaves: the difference of the half and the whole. */
async function growth(on: TestChain, kind: Kind): Promise<Sizes> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'vault.db');
  const many = '1000000';
  const limits = { MAX_VERIFY_SENDS_PER_IP: many, MAX_REGISTRATIONS_PER_IP: many, RATE_LIMIT_WRITES_PER_IP: many };
  const budgets = { EMAIL_DAILY_MAX: many, SMS_DAILY_MAX: many, RATE_LIMIT_READS_PER_IP: many };
  const chains = { FOLLOWER: 'true', FINALITY_BLOCKS: '0', RATE_LIMIT_PROXY_PER_IP: many, SMS_COUNTRIES: '*' };
  const t = await startVault({ ...on.vars, ...limits, ...budgets, ...chains }, { dir: folder.path });
  const people = createPeople(on, () => t);
  try {
    await registerAll(t, people, kind, registrations / 2);
    const half = sizesOf(path);
    await registerAll(t, people, kind, registrations / 2);
    const whole = sizesOf(path);
    return new Map(Array.from(whole, ([name, bytes]) => [name, (bytes - (half.get(name) ?? 0)) / (registrations / 2)]));
  } finally {
    await t.stop();
    folder.remove();
  }
}

async function registerAll(t: TestVault, people: People, kind: Kind, count: number): Promise<void> {
  let [begun, done] = [0, 0];
  const work = async () => {
    while (begun++ < count) {
      await registerOne(t, people, kind);
      progress(`${kind.name}: ${++done} of ${count}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  progress('');
  const isDone = async () =>
    (await t.rows(`SELECT 1 FROM registrations WHERE final = 0 OR status <> 'confirmed' LIMIT 1`)).length === 0;
  for (let turn = 0; !(await isDone()); turn++) {
    if (turn === 500) throw new Error('not every registration became final');
    await t.clock.advance(5_000);
    await t.work();
  }
  await t.clock.advance(9 * DAY_MS);
  // A turn deletes a bounded number of rows.
  const left = `SELECT 1 FROM codes UNION ALL SELECT 1 FROM events WHERE at <= :before LIMIT 1`;
  while ((await t.rows(left, { before: t.clock.now() - 8 * DAY_MS })).length > 0) {
    await t.clock.advance(61_000);
    await t.work();
  }
}

/** The DID is as long as those of the vault's own accounts. */
async function registerOne(t: TestVault, people: People, { channel, proof }: Kind): Promise<void> {
  // One account deploys them all, so one at a time.
  creating = creating.then(() => people.create(channel));
  const made = await (creating as Promise<Person>);
  const who: Person = { ...made, did: `did:pkh:eip155:84532:${made.account.toLowerCase()}` };
  if (channel === 'handle') mustBe200(await t.call('POST /api/sessions', { handle: who.identifier, did: who.did }));
  const { txHash } = await people.publish(who);
  mustBe200(await people.claim(who, txHash, { proof }));
}

function mustBe200({ status, text }: { status: number; text: string }): void {
  if (status !== 200) throw new Error(`a registration was answered ${status}: ${text}`);
}

function sizesOf(path: string): Sizes {
  const connection = new Connection(path, { readonly: true });
  const sql = `SELECT tbl_name AS name, sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema ON dbstat.name = sqlite_schema.name
    GROUP BY tbl_name`;
  const rows = connection.query(sql).all() as { name: string; bytes: number }[];
  connection.close();
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

function sum(sizes: Sizes): number {
  return Array.from(sizes.values()).reduce((all, one) => all + one, 0);
}

function table(): Table {
  const names = [...new Set(grown.flatMap(({ sizes }) => [...sizes.keys()]))];
  const rowOf = (name: string) => ({ name, cells: grown.map(({ sizes }) => sizes.get(name) ?? 0) });
  const rows = names.map(rowOf).filter(({ cells }) => cells.some((bytes) => Math.round(bytes) > 0));
  rows.sort((a, b) => (b.cells[0] ?? 0) - (a.cells[0] ?? 0));
  return {
    title: 'bytes that a finished registration of … leaves',
    columns: KINDS.map(({ name }) => ({ title: name })),
    rows: [...rows.map(({ name, cells }) => ({ name: `\`${name}\``, cells })), { name: 'all', cells: totals }],
    notes: [
      `${registrations} registrations of each kind; the pages of the second half of them, with their indexes and with the ` +
        'room that is left in them, after all that expires was swept.',
    ],
  };
}
