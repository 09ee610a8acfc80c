import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Candidate, createCandidate, type RelayChain, startRelayChain } from '../support/candidates.ts';
import { isLong } from '../support/long.ts';
import { killsOf, startVictims, testOrdeals } from '../support/ordeals.ts';
import { until, untilNothing } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { PLACES, type Victim } from '../support/victim.ts';

const REGISTRATIONS = isLong ? 200 : 60;
const KILL_CHANCE = isLong ? 0.5 : 1;
/** Requests at once. Bun has at most 256 under way, and the proxies before the nodes need some of them. */
const ASKING = isLong ? 60 : 20;
/** So many come one by one until everything has gone wrong at least once: the others may be through before. */
const HELD_BACK = REGISTRATIONS / 3;
/** Each is held back for so many blocks: what goes wrong is counted by blocks, however fast the machine is. */
const HOLD_BLOCKS = 10;
const BLOCK_MS = 100;

/** A crowd that was registered while everything went wrong that can. */
interface Ordeal {
  readonly chain: RelayChain;
  readonly candidates: readonly Candidate[];
  readonly victims: readonly Victim[];
  readonly faults: Faults;
  readonly database: Database;
  end(): Promise<void>;
}

type Faults = Readonly<Record<'drops' | 'spikes' | 'reorgs' | 'outages', number>>;

/**
 * Everybody asks until there is an answer, while vaults are killed, transactions dropped, fees rise, blocks are taken
 * back, and the node is gone at times.
 */
async function suffer(processes: number): Promise<Ordeal> {
  const dir = mkdtempSync(join(tmpdir(), 'vault-relay-'));
  const chain = await startRelayChain();
  const names = Array.from({ length: REGISTRATIONS }, (_, n) => `p${processes}n${n}`);
  const candidates = await Promise.all(names.map((name) => createCandidate(chain, name)));
  const options = {
    vars: varsOf(chain, dir),
    dir,
    node: chain.url,
    killsMax: isLong ? 16 / processes : PLACES.length,
    chance: KILL_CHANCE,
  };
  const victims = await startVictims(processes, options);
  await chain.rpc('evm_setAutomine', [false]);
  // No re-org reaches the contracts.
  await chain.mine(10);
  const weather = startWeather(chain, victims);
  const waiting = [...candidates.entries()];
  const hasStruck = () => Object.values(weather.faults).every(Boolean) && PLACES.every((place) => isKilledAt(place));
  const isKilledAt = (place: (typeof PLACES)[number]) => victims.some(({ kills }) => kills[place] > 0);
  let turn = Promise.resolve();
  const hold = () => {
    turn = turn.then(async () => {
      const end = weather.block() + HOLD_BLOCKS;
      // Nobody is asked while all vaults start again.
      const isNext = () => hasStruck() || (weather.block() > end && victims.some((victim) => victim.isUp()));
      await until(`block ${end}, or all has gone wrong`, isNext);
    });
    return turn;
  };
  const askOn = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (waiting.length < HELD_BACK) await hold();
      await insist(victims, next[1], next[0]);
    }
  };
  await Promise.all(Array.from({ length: ASKING }, askOn));
  await weather.calm();
  for (const victim of victims) victim.spare();
  await untilConfirmed(victims, candidates, chain);
  await untilUntroubled(victims);
  await weather.stop();
  await Promise.all(victims.map((victim) => victim.stop()));
  const database = new Database(join(dir, 'vault.db'), { readonly: true });
  const end = async () => {
    database.close();
    await chain.stop();
    rmSync(dir, { recursive: true });
  };
  return { chain, candidates, victims, faults: weather.faults, database, end };
}

function varsOf(chain: RelayChain, dir: string): Record<string, string> {
  return {
    ...chain.vars,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: dir,
    FOLLOWER: 'false',
    RATE_LIMIT_PROXY_PER_IP: '1000000',
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000000',
  };
}

/** Mines a block every now and then, and until it is calm lets happen what happens to chains and nodes. */
function startWeather(chain: RelayChain, victims: readonly Victim[]) {
  const faults = { drops: 0, spikes: 0, reorgs: 0, outages: 0 };
  let block = 0;
  let isCalm = false;
  let isOver = false;
  let raging: Promise<void> = Promise.resolve();
  const storm = async () => {
    if (block % 11 === 3) {
      await chain.reorg(1 + Math.floor(4 * Math.random()));
      faults.reorgs++;
    }
    if (block % 3 === 1 && (await dropOne(chain))) faults.drops++;
    // Four gwei for ten blocks: what was signed for less is passed over until it offers more.
    if (block % 40 >= 30) await chain.rpc('anvil_setNextBlockBaseFeePerGas', ['0xee6b2800']);
    if (block % 40 === 30) faults.spikes++;
    if (block % 50 === 20) {
      for (const victim of victims) victim.cutOff(800, Math.random() < 0.5 ? 'all' : 'answers');
      faults.outages++;
    }
  };
  const running = (async () => {
    for (; !isOver; block++) {
      if (!isCalm) raging = storm();
      await raging;
      await chain.rpc('evm_mine');
      await Bun.sleep(BLOCK_MS);
    }
  })();
  return {
    faults,
    block: () => block,
    /** Resolves when the last storm is over: a re-org that is under way would take back what is confirmed meanwhile. */
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

/** Whether the node forgot a transaction that was waiting. */
async function dropOne({ rpc }: RelayChain): Promise<boolean> {
  const pool = (await rpc('txpool_content')) as { pending: Record<string, Record<string, { hash: string }>> };
  const waiting = Object.values(pool.pending).flatMap((one) => Object.values(one));
  const unlucky = waiting[Math.floor(waiting.length * Math.random())];
  return unlucky !== undefined && (await rpc('anvil_dropTransaction', [unlucky.hash])) !== null;
}

/** Asks, and asks again whenever there was no answer, or it was that nothing is sent. */
async function insist(victims: readonly Victim[], { body }: Candidate, n: number): Promise<void> {
  let asked = n;
  const ask = async () => {
    const url = `${victims[asked++ % victims.length]?.url()}/api/dids`;
    const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': `203.0.113.${n % 100}` };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 0, text: '' }));
    if (answer.status === 200 || answer.status === 202) return true;
    if (!/^$|rpc_error|identifier_busy|shutting_down/.test(answer.text)) throw new Error(JSON.stringify(answer));
    return void (await Bun.sleep(100 + 200 * Math.random()));
  };
  await until(`candidate ${n} is taken`, ask);
}

/**
 * Until all are confirmed by a transaction that is on-chain: for a moment a record still names the block that the last
 * re-org took.
 */
function untilConfirmed(victims: readonly Victim[], candidates: readonly Candidate[], { rpc }: RelayChain) {
  const open = new Set(candidates);
  return untilNothing('all are confirmed', async () => {
    for (const candidate of open) {
      const url = `${victims[0]?.url()}/api/dids/lookup?credentialId=${candidate.credentialId}`;
      // The one that was killed last may not be up yet.
      const answer = await fetch(url).catch(() => undefined);
      const { status, txHash } = ((await answer?.json()) ?? {}) as { status?: string; txHash?: string };
      if (status === 'confirmed' && (await rpc('eth_getTransactionReceipt', [txHash]))) open.delete(candidate);
    }
    return Array.from(open, ({ did }) => did);
  });
}

/** Until the relay has seen that the last outage is over, some seconds later where nothing was left to register. */
async function untilUntroubled(victims: readonly Victim[]): Promise<void> {
  const troubles = () =>
    Promise.all(
      victims.map(async (victim) => {
        const answer = await fetch(`${victim.url()}/readyz`).catch(() => undefined);
        return ((await answer?.json()) as Ready | undefined)?.relay;
      }),
    );
  await until('no relay is in trouble', async () => (await troubles()).every((trouble) => trouble === 'ok'));
}

interface Ready {
  readonly relay: string;
}

testOrdeals(`${REGISTRATIONS} relayed registrations`, suffer, (ordeal, name) => {
  const rows = (sql: string) => ordeal().database.query(sql).all() as Record<string, unknown>[];

  test('went through kill -9 at every place, dropped transactions, fee spikes, re-orgs and outages', () => {
    const { victims, faults } = ordeal();
    const kills = killsOf(victims);
    const [{ attempts } = {}] = rows('SELECT count(*) AS attempts FROM relay_attempts');
    console.log(`${name}: ${JSON.stringify({ kills, ...faults, attempts })}`);
    expect(Object.entries({ ...kills, ...faults }).filter(([, count]) => count === 0)).toEqual([]);
  });

  test('are as many events on-chain, none twice, and the registrar’s nonce is their number', async () => {
    const { chain } = ordeal();
    expect(await chain.registered()).toEqual({ events: REGISTRATIONS, twice: 0 });
    expect(await chain.nonce()).toBe(REGISTRATIONS);
    expect(rows('SELECT next_nonce, trouble FROM signers')).toEqual([{ next_nonce: REGISTRATIONS, trouble: null }]);
  });

  test('belong to who asked for them', async () => {
    const { chain, candidates } = ordeal();
    const controllers = await Promise.all(candidates.map(({ did }) => chain.controllerOf(did)));
    expect(controllers).toEqual(candidates.map(({ smartAccount }) => smartAccount));
  });

  test('are as many records, all confirmed, each with the transaction that did it', async () => {
    const { chain } = ordeal();
    const records = rows(`SELECT did, status, proof_key, tx_hash FROM registrations WHERE status <> 'failed'`);
    expect(records.length).toBe(REGISTRATIONS);
    expect(records.filter(({ status, proof_key }) => status !== 'confirmed' || proof_key === null)).toEqual([]);
    const receipts = await Promise.all(records.map(({ tx_hash }) => chain.rpc('eth_getTransactionReceipt', [tx_hash])));
    expect(receipts.filter((receipt) => (receipt as { status?: string } | null)?.status !== '0x1')).toEqual([]);
    // What failed was taken back before anything was signed for it.
    expect(
      rows(`SELECT DISTINCT failure, nonce FROM relays WHERE status = 'failed' AND failure <> 'withdrawn'`),
    ).toEqual([]);
  });
});
