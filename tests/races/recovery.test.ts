import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import { isLong } from '../support/long.ts';
import { killsOf, startVictims, testOrdeals } from '../support/ordeals.ts';
import {
  createOwner,
  DELAY,
  type Owner,
  type RecoveryChain,
  recoveryBody,
  startRecoveryChain,
  vetoOf,
} from '../support/recovery.ts';
import { nextBlockAt, timeNow } from '../support/registries.ts';
import { until, untilNothing } from '../support/until.ts';
import { startVault, VAULT_SECRET } from '../support/vault.ts';
import type { Victim } from '../support/victim.ts';

const RECOVERIES = isLong ? 24 : 6;
const KILLS_MAX = isLong ? 24 : 8;
const BLOCK_MS = 100;
/** Deeper than any re-org below. */
const FINALITY_BLOCKS = 8;

interface Case {
  readonly owner: Owner;
  readonly passkey: Passkey;
  readonly isVetoed: boolean;
  readonly body: object;
}

/** Recoveries that went from the request to the end while everything went wrong that can. */
interface Ordeal {
  readonly chain: RecoveryChain;
  readonly cases: readonly Case[];
  readonly victims: readonly Victim[];
  readonly reorgs: number;
  readonly mail: MailCatcher;
  readonly database: Database;
  end(): Promise<void>;
}

async function suffer(processes: number): Promise<Ordeal> {
  const dir = mkdtempSync(join(tmpdir(), 'vault-recovery-'));
  const [chain, mail] = await Promise.all([startRecoveryChain(), startMailCatcher()]);
  const vars = { ...chain.vars, FINALITY_BLOCKS: String(FINALITY_BLOCKS) };
  const cases = await prepare(chain, vars);
  const options = { vars: varsOf(vars, mail, dir), dir, node: chain.url, killsMax: KILLS_MAX / processes, chance: 1 };
  const victims = await startVictims(processes, options);
  await chain.rpc('evm_setAutomine', [false]);
  await chain.mine(FINALITY_BLOCKS + 2);
  const weather = startWeather(chain);
  const database = new Database(join(dir, 'vault.db'));
  database.run('PRAGMA busy_timeout = 5000');
  const statusIs = (wanted: readonly string[]) =>
    untilEach(`all are ${wanted.join(' or ')}`, { cases, database }, ({ status }) => wanted.includes(status));
  await Promise.all(cases.map((one, n) => insist(victims, '/api/recoveries', one.body, n)));
  await statusIs(['proposed']);
  const vetoed = cases.filter(({ isVetoed }) => isVetoed);
  await Promise.all(
    vetoed.map(({ owner, passkey }, n) =>
      insist(
        victims,
        '/api/recoveries/vetoes',
        { smartAccount: owner.account, signature: vetoOf(owner, passkey, 1) },
        n,
      ),
    ),
  );
  weather.reach(Number(await timeNow(chain.rpc)) + DELAY + 600);
  await statusIs(['finished', 'vetoed']);
  await weather.calm();
  for (const victim of victims) victim.spare();
  await untilEach('all are final', { cases, database }, ({ final }) => final === 1);
  await untilWritten(database);
  await weather.stop();
  await Promise.all(victims.map((victim) => victim.stop()));
  const end = async () => {
    database.close();
    await Promise.all([chain.stop(), mail.stop()]);
    rmSync(dir, { recursive: true });
  };
  return { chain, cases, victims, reorgs: weather.reorgs(), mail, database, end };
}

/** Owners who named the guardian, and what those ask who lost their keys; every other recovery is vetoed. */
async function prepare(chain: RecoveryChain, vars: Record<string, string>): Promise<readonly Case[]> {
  const t = await startVault(vars);
  const cases: Case[] = [];
  const now = { clock: { ...t.clock, now: () => Date.now() } };
  for (let n = 0; n < RECOVERIES; n++) {
    const owner = await createOwner(chain, t, `person${n}@example.com`);
    const passkey = createPasskey();
    cases.push({ owner, passkey, isVetoed: n % 2 === 1, body: recoveryBody({ ...t, ...now }, owner, passkey) });
  }
  await t.stop();
  return cases;
}

function varsOf(vars: Record<string, string>, mail: MailCatcher, dir: string): Record<string, string> {
  return {
    ...vars,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: dir,
    FOLLOWER: 'false',
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: mail.url,
    EMAIL_FROM: 'vault@example.com',
    RECOVERIES_DAILY_MAX: '100000',
    RATE_LIMIT_PROXY_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000000',
  };
}

/** Mines a block every now and then, and until it is calm takes some back. */
function startWeather(chain: RecoveryChain) {
  let [reorgs, isCalm, isOver, due] = [0, false, false, 0];
  let raging: Promise<void> = Promise.resolve();
  const running = (async () => {
    for (let block = 0; !isOver; block++) {
      if (!isCalm && block % 9 === 4) {
        reorgs++;
        raging = chain.reorg(1 + Math.floor(4 * Math.random()));
        await raging;
      }
      // A re-org takes a jump of time back, too.
      if ((await timeNow(chain.rpc)) < due) await nextBlockAt(chain.rpc, BigInt(due));
      await chain.rpc('evm_mine');
      await Bun.sleep(BLOCK_MS);
    }
  })();
  return {
    /** From now on the chain is at this time or later, in seconds. */
    reach(time: number) {
      due = time;
    },
    reorgs: () => reorgs,
    async calm() {
      isCalm = true;
      await raging;
    },
    async stop() {
      isOver = true;
      await running;
    },
  };
}

/** Asks, and asks again whenever there was no answer, or it was that the chain or the recovery is not there yet. */
async function insist(victims: readonly Victim[], path: string, body: object, n: number): Promise<void> {
  let [asked, last] = [n, ''];
  const ask = async () => {
    const url = `${victims[asked++ % victims.length]?.url()}${path}`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': `203.0.113.${n}` },
      body: JSON.stringify(body),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 0, text: '' }));
    if (answer.status === 202) return true;
    if (!/^$|rpc_error|shutting_down|not_found|veto_invalid/.test(answer.text)) throw new Error(JSON.stringify(answer));
    last = answer.text || last;
    return void (await Bun.sleep(100 + 200 * Math.random()));
  };
  await until(path, ask).catch((error) => {
    throw new Error(`${error.message}: ${last}`);
  });
}

const statuses = (database: Database) =>
  database.query('SELECT account, status, final FROM recoveries').all() as {
    account: string;
    status: string;
    final: number;
  }[];

/** The guardian's calls. */
const callsOf = (database: Database) =>
  database.query('SELECT kind, status, failure, substr(target, 1, 8) AS target FROM relays').all();

/**
 * Each recovery is looked at now, as if its time were near. A re-org can take back the time at which a call was due, so
 * that it is refused: the pause before the next try, minutes long, is over as well.
 */
function hurry(database: Database): void {
  database.run('UPDATE recoveries SET next_check_at = 0 WHERE next_check_at IS NOT NULL');
  database.run(`UPDATE relays SET created_at = 0 WHERE status = 'failed'`);
}

const LOOKS = { pauseMs: 300 };

/** Until this is so of each recovery. */
function untilEach(
  what: string,
  { cases, database }: Pick<Ordeal, 'cases' | 'database'>,
  isSo: (one: ReturnType<typeof statuses>[number]) => boolean,
): Promise<void> {
  const left = () => {
    const rows = statuses(database);
    if (rows.length === cases.length && rows.every(isSo)) return [];
    hurry(database);
    return [...rows.filter((one) => !isSo(one)), ...callsOf(database)];
  };
  return untilNothing(what, left, LOOKS);
}

function untilWritten(database: Database): Promise<void> {
  const left = () => {
    database.run('UPDATE recovery_notices SET due_at = 0 WHERE due_at IS NOT NULL AND tries > 0');
    return database.query('SELECT recovery_id, kind, tries FROM recovery_notices WHERE due_at IS NOT NULL').all();
  };
  return untilNothing('each mail is sent', left, LOOKS);
}

testOrdeals(`${RECOVERIES} recoveries`, suffer, (ordeal, name) => {
  const rows = (sql: string) => ordeal().database.query(sql).all() as Record<string, unknown>[];

  test('went through kill -9 at every place and re-orgs', () => {
    const { victims, reorgs } = ordeal();
    const kills = killsOf(victims);
    console.log(`${name}: ${JSON.stringify({ kills, reorgs })}`);
    expect(Object.entries({ ...kills, reorgs }).filter(([, count]) => count === 0)).toEqual([]);
  });

  test('are each proposed once and end once on-chain, as their owners wanted', async () => {
    const { chain, cases } = ordeal();
    for (const { owner, passkey, isVetoed } of cases) {
      const ends = isVetoed ? { finished: 0, vetoed: 1 } : { finished: 1, vetoed: 0 };
      expect(await chain.events(owner.account)).toEqual({ proposed: 1, cancelled: 0, ...ends });
      expect(await chain.isKey(owner.account, passkey)).toBe(!isVetoed);
    }
  });

  test('are as many records, each with its end, one call of each kind, and no address', () => {
    const { cases } = ordeal();
    const status = new Map(statuses(ordeal().database).map((one) => [one.account, one.status]));
    for (const { owner, isVetoed } of cases)
      expect(status.get(owner.account.toLowerCase())).toBe(isVetoed ? 'vetoed' : 'finished');
    expect(rows('SELECT id FROM recoveries WHERE is_foreign = 1')).toEqual([]);
    expect(rows(`SELECT recovery_id FROM relays WHERE status <> 'failed' AND kind = 'proposal'`)).toHaveLength(
      RECOVERIES,
    );
    expect(rows('SELECT id FROM recoveries WHERE identifier IS NOT NULL')).toEqual([]);
  });

  test('are told to each address at the start and at the end; what comes twice has one Message-ID', () => {
    const { cases, mail } = ordeal();
    for (const { owner, isVetoed } of cases) {
      const told = mail.messages.filter(({ to }) => to.includes(owner.email));
      const ids = new Map(told.map(({ headers, subject }) => [headers.get('message-id'), subject]));
      const subjects = [...ids.values()].map((subject) => subject.replace(/ on [^ ]*/, ''));
      const end = isVetoed ? 'The recovery of your account was stopped' : 'Your account has a new passkey';
      expect(subjects.sort()).toEqual(['Somebody is recovering your account', end].sort());
      expect(told.every(({ text }) => text.includes(`/account?lang=en#stop=${owner.account.toLowerCase()}`))).toBe(
        true,
      );
    }
  });
});
