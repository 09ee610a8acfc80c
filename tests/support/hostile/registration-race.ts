import { Address, Hex } from 'ox';
import { TOPICS } from '../../../lib/chain/followed-contracts.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { controllerOf } from './chain-truth.ts';
import { denyTransaction, forgeFuture, forgeNonce, forgeRegistration } from './forgeries.ts';
import { ask, found, newRegistrant, REGISTRAR_DID, type Registrant, sendAgain } from './registrations.ts';
import { FINAL_DEPTH, type HostileWorld, startHostileWorld } from './world.ts';

/** What came of it: each list holds what should not be. */
export interface RegistrationRace {
  readonly untrueConfirmed: readonly string[];
  readonly untrueFailed: readonly string[];
  readonly lost: readonly string[];
  readonly unreachable: readonly string[];
  readonly refusals: readonly string[];
  /** Transactions of the registrar beyond one for each relayed registration. */
  readonly wasted: number;
  readonly tally: object;
}

/** How many people there are, and whether the first node lies beside an honest second one. */
export interface RaceOptions {
  readonly seed: number;
  readonly count: number;
  readonly isLying: boolean;
}

const RAGING_TURNS_MIN = 50;
const RAGING_TURNS_MAX = 60;
const OFTEN = 5;
const CALM_TURNS = 25;
const CALM_TURNS_MAX = 250;

/** People register while everything fails, then once more when it is calm; and each is looked for in the end. */
export async function raceRegistrations({ seed, count, isLying }: RaceOptions): Promise<RegistrationRace> {
  const vars = { REGISTRAR_DID, REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
  const world = await startHostileWorld({ seed, hasWitness: isLying, vars });
  try {
    const people: Registrant[] = [];
    for (let n = 0; n < count; n++) people.push(await newRegistrant(world, n));
    // No re-org reaches what they own.
    for (let block = 0; block <= FINAL_DEPTH; block++) await world.mine();
    const watch = await startWatch(world, people);
    world.rage(true);
    if (isLying) lie(world, people);
    for (let turn = 0; turn < RAGING_TURNS_MAX && !(turn >= RAGING_TURNS_MIN && people.every(isDone)); turn++) {
      for (const one of people)
        if (one.n % RAGING_TURNS_MIN <= turn && world.draw.below(patienceOf(one)) === 0) ask(world, one);
      await step(world, people, 1 + world.draw.below(20));
      await watch(8);
    }
    world.rage(false);
    world.node.lies.length = 0;
    let quiet = 0;
    for (let turn = 0; turn < CALM_TURNS_MAX && quiet < CALM_TURNS; turn++) {
      for (const one of people) ask(world, one);
      await step(world, people, 60);
      // A request takes its real time, which on a busy machine is many turns.
      if (people.every(isDone)) quiet++;
    }
    const untrueConfirmed = await watch(people.length);
    return { untrueConfirmed, ...(await judge(world, people)), tally: world.node.tally };
  } finally {
    await world.stop();
  }
}

/** In how many turns one asks once: who was often sent away, as while a node lies of nonces, comes less often. */
function patienceOf({ asked }: Registrant): number {
  return asked < OFTEN ? 3 : 9;
}

function isDone({ isTaken, isPhantom }: Registrant): boolean {
  return isTaken || isPhantom;
}

/** A re-org drops transactions, at once or later; their senders send them again, as a wallet does. */
async function step(world: HostileWorld, people: readonly Registrant[], seconds: number): Promise<void> {
  await world.turn(seconds);
  for (const one of people) await sendAgain(world, one);
}

/** Looks some registrations up, and notes those that are `confirmed` though no block ever held the registry's event. */
async function startWatch({ chain, contracts, vault, draw }: HostileWorld, people: readonly Registrant[]) {
  const first = Hex.fromNumber(Number(await chain.rpc('eth_blockNumber')));
  const [seen, untrue] = [new Set<string>(), new Set<string>()];
  return async (times: number) => {
    const filter = {
      address: contracts.didRegistry,
      fromBlock: first,
      toBlock: 'latest',
      topics: [TOPICS.DIDRegistered],
    };
    const logs = (await chain.rpc('eth_getLogs', [filter])) as readonly { readonly topics: readonly string[] }[];
    for (const { topics } of logs) seen.add(String(topics[1]));
    for (let n = 0; n < times; n++) {
      const one = people[times === people.length ? n : draw.below(people.length)] as Registrant;
      const { body } = await vault.call('GET /api/dids/lookup', { credentialId: one.credentialId });
      if (body?.status === 'confirmed' && !seen.has(didHash(one.did))) untrue.add(`${one.n}`);
    }
    return [...untrue];
  };
}

/** The first node says that phantoms are registered and real ones are not, and that the chain and its nonces are ahead. */
function lie({ node, contracts, draw }: HostileWorld, people: readonly Registrant[]): void {
  for (const one of people) {
    if (one.isPhantom && one.txHash) {
      const controller = one.account.toLowerCase() as Hex.Hex;
      node.lies.push(
        forgeRegistration(contracts.didRegistry, { txHash: one.txHash, didHash: didHash(one.did), controller }),
      );
    } else if (!one.isRelayed && draw.below(2) === 0) {
      const how = draw.below(2) === 0 ? 'reverted' : 'unseen';
      node.lies.push((call, truth) => one.txHash && denyTransaction(one.txHash, how)(call, truth));
    }
  }
  node.lies.push(forgeNonce(devAccount('registrar').address, 500));
  if (draw.below(2) === 0) node.lies.push(forgeFuture());
}

async function judge(world: HostileWorld, people: readonly Registrant[]) {
  const { vault } = world;
  const [untrueFailed, lost, unreachable]: string[][] = [[], [], []];
  const real = people.filter(({ isPhantom }) => !isPhantom);
  for (const one of real) {
    const { body } = await vault.call('GET /api/dids/lookup', { credentialId: one.credentialId });
    const controller = await controllerOf(world, one.did);
    const isThere = controller === Address.checksum(one.account);
    const rows = await vault.rows(`SELECT failure FROM registrations WHERE did = :did AND status = 'failed'`, {
      did: one.did,
    });
    const failures = rows.map(({ failure }) => String(failure)).filter((failure) => failure !== 'withdrawn');
    if (isThere && failures.length > 0) untrueFailed?.push(`${one.n}: ${failures}`);
    if (!isThere || body?.status !== 'confirmed') lost?.push(`${one.n}: ${body?.status}, controller ${controller}`);
    const accounts = await found(world, one).catch((error) => [String(error)]);
    if (!accounts.includes(Address.checksum(one.account))) unreachable?.push(`${one.n}: ${accounts}`);
  }
  const sent = Number(await world.chain.rpc('eth_getTransactionCount', [devAccount('registrar').address, 'latest']));
  const wasted = sent - real.filter(({ isRelayed }) => isRelayed).length;
  const refusals = people
    .filter(({ isPhantom }) => !isPhantom)
    .flatMap(({ n, refusals: all }) => all.map((why) => `${n}: ${why}`));
  return { untrueFailed: untrueFailed ?? [], lost: lost ?? [], unreachable: unreachable ?? [], refusals, wasted };
}
