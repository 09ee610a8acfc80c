import { type Address, ContractAddress, Hash, Hex } from 'ox';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import type { Draw } from '../draw.ts';
import { keyOf, pkhHash, proxyCode, type TestAccount, ZERO } from '../registries.ts';

// The few people, DIDs and names of the model: so few that they meet.

/** Everything that acts or is acted on; hashes and addresses are lower-case 0x-hex. */
export interface World {
  readonly people: readonly string[];
  /** Old accounts, each with the second account of its key. */
  readonly pairs: readonly { readonly old: TestAccount; readonly next: TestAccount }[];
  readonly dids: readonly string[];
  /** Whose own did:pkh a hash is. */
  readonly ownerOf: ReadonlyMap<string, string>;
  readonly names: readonly string[];
}

/** One call of the registry: who, when, which, with what. */
export interface Step {
  readonly time: number;
  readonly by: string;
  readonly name: string;
  readonly did: string;
  /** Zero for none. */
  readonly alias: string;
  readonly to: string;
  readonly salt: string;
  /** Seconds from now to the end of a consent. */
  readonly end: number;
}

/** A world with accounts of these factories. */
export function createWorld(factory1: string, implementation1: string): World {
  const people = Array.from({ length: 4 }, (_, i) => `0x${`${'abcd'[i]}${i + 1}`.repeat(20)}`);
  const pairs = [0, 1].map(() => {
    const passkey = createPasskey();
    const old = open(1, factory1, implementation1);
    return { old, next: open(2, `0x${'f2'.repeat(20)}`, `0x${'a2'.repeat(20)}`) };
    function open(kind: 1 | 2, factory: string, implementation: string): TestAccount {
      const initCode = proxyCode(kind, implementation as Hex.Hex, [...keyOf(passkey), 0n]);
      const from = factory as Address.Address;
      const address = ContractAddress.fromCreate2({ from, salt: Hex.toBytes(ZERO), bytecode: initCode }).toLowerCase();
      return { address: address as Hex.Hex, factory: from, initCode, passkey, create: () => Promise.resolve() };
    }
  });
  const all = [...people, ...pairs.flatMap(({ old, next }) => [old.address, next.address])];
  const ownerOf = new Map<string, string>();
  for (const one of all) {
    ownerOf.set(pkhHash(one as Hex.Hex), one);
    ownerOf.set(Hash.keccak256(Hex.fromString(`did:pkh:eip155:84532:${one}`)), one);
  }
  const labels = ['0x01', '0x02', '0x03'].map((one) => Hash.keccak256(one as Hex.Hex));
  const names = ['0x11', '0x12', '0x13'].map((one) => Hash.keccak256(one as Hex.Hex));
  return { people: all, pairs, dids: [...ownerOf.keys(), ...labels], ownerOf, names };
}

/** When every world begins, and when its registry opens, in seconds. */
export const START = 1_700_000_000;
export const OPENS = START + 500;

const NAMES = [
  'register',
  'registerSelf',
  'registerFor',
  'update',
  'deactivate',
  'voidOwn',
  'claimDid',
  'commitDid',
  'firstRegister',
  'firstDeactivate',
  'offerDid',
  'acceptDid',
  'moveDid',
  'commitAlias',
  'claimAlias',
  'claimAlias',
  'pointAlias',
  'freeAlias',
];
/** How time goes on: to both sides of every bound. */
const PAUSES = [
  0,
  0,
  0,
  1,
  1,
  2,
  60,
  240,
  599,
  600,
  601,
  3_599,
  3_600,
  3_601,
  86_400,
  15 * 86_400,
  30 * 86_400 - 1,
  30 * 86_400,
];
const ENDS = [-86_401, -86_400, -60, 0, 540, 86_400, 86_401];

/** What the drawn step is likelier to hit. */
export interface Hints {
  controllerOf(did: string): string | undefined;
  didOfAlias(alias: string): string | undefined;
  offerOf(did: string): string | undefined;
}

/** Stories whose parts would seldom meet by chance, for a new world: each history begins with one. */
export function tellStory(world: World, which: number): readonly Step[] {
  const now = OPENS;
  const [a = '', b = '', c = ''] = world.people;
  const alias = world.names[0] as string;
  const own = world.dids.find((did) => world.ownerOf.get(did) === b) as string;
  const none = { did: own, alias: ZERO, to: a, salt: ZERO, end: 0 };
  const at = (later: number, by: string, name: string, more: Partial<Step> = {}): Step => {
    return { ...none, time: now + later, by, name, ...more };
  };
  const commit = (later: number, by: string) => at(later, by, 'commitAlias', { alias, to: by });
  const claim = (later: number, by: string) => at(later, by, 'claimAlias', { alias });
  const everybody = [a, b, c].map((one) => at(0, one, 'registerSelf'));
  const label = world.dids.at(-1) as string;
  const byLabel = (later: number, by: string, name: string, more: Partial<Step> = {}) =>
    at(later, by, name, { did: label, to: by, ...more });
  const days = 86_400;
  const stories: readonly (readonly Step[])[] = [
    // A squatter offers what is taken from it.
    [
      at(0, a, 'register', { alias }),
      at(1, a, 'offerDid', { to: c }),
      at(2, b, 'register'),
      at(3, c, 'acceptDid'),
      at(4, a, 'pointAlias', { alias }),
    ],
    // Three claims of a name, the oldest at last.
    [...everybody, commit(0, a), commit(1, b), claim(2, c), claim(302, b), claim(602, a)],
    [...everybody, commit(0, a), commit(0, b), claim(1, b), claim(2, a)],
    [at(0, b, 'register'), at(1, b, 'offerDid', { to: c }), at(2, b, 'deactivate'), at(3, c, 'acceptDid')],
    [at(0, a, 'register'), at(1, a, 'offerDid', { to: b }), at(2, b, 'acceptDid')],
    [at(0, b, 'register'), at(1, b, 'offerDid', { to: c }), at(2, c, 'acceptDid'), at(3, b, 'register')],
    // A freed name that its controller takes again.
    [...everybody, claim(0, a), at(600, a, 'freeAlias', { alias }), commit(601, c), claim(660, a), claim(661, c)],
    // What the first registry gave out before this one opened, and after.
    [
      byLabel(-500, a, 'firstRegister', { alias }),
      byLabel(-400, b, 'register', { alias }),
      at(-300, b, 'registerSelf'),
      claim(-200, b),
      commit(0, b),
      byLabel(0, c, 'commitDid'),
      claim(1, b),
      byLabel(2, c, 'claimDid'),
      byLabel(3, a, 'register', { alias }),
      claim(4, b),
      byLabel(5, c, 'claimDid'),
    ],
    [
      byLabel(0, a, 'firstRegister', { alias }),
      byLabel(1, b, 'register', { alias }),
      byLabel(2, a, 'firstDeactivate'),
      byLabel(3, c, 'register'),
    ],
    // A DID that is nobody's own, by three claims, and after its end.
    [
      byLabel(0, a, 'commitDid'),
      byLabel(1, b, 'commitDid'),
      byLabel(2, c, 'register', { alias }),
      byLabel(3, c, 'deactivate'),
      byLabel(301, b, 'claimDid'),
      byLabel(602, a, 'claimDid'),
    ],
    [
      byLabel(0, a, 'commitDid'),
      byLabel(0, b, 'commitDid'),
      byLabel(1, a, 'claimDid'),
      byLabel(2, b, 'claimDid'),
      byLabel(3, a, 'deactivate'),
    ],
    [byLabel(0, a, 'commitDid'), byLabel(1, a, 'register'), byLabel(2, a, 'deactivate'), byLabel(3, a, 'claimDid')],
    // The names of a DID that has ended, around the end of their time.
    [
      byLabel(0, a, 'register', { alias }),
      byLabel(600, a, 'deactivate'),
      at(600, b, 'registerSelf'),
      at(600 + 29 * days, a, 'freeAlias', { alias }),
      claim(600 + 30 * days, b),
    ],
    [
      byLabel(0, a, 'register', { alias }),
      byLabel(600, a, 'deactivate'),
      at(600, b, 'registerSelf'),
      commit(600 + 30 * days, b),
      at(601 + 30 * days, a, 'registerSelf', { alias }),
      claim(602 + 30 * days, b),
    ],
    [
      byLabel(0, a, 'register', { alias }),
      byLabel(600, a, 'deactivate'),
      at(600, b, 'registerSelf'),
      at(601, a, 'freeAlias', { alias }),
      commit(600 + 30 * days, b),
      at(601 + 30 * days, a, 'registerSelf', { alias }),
      claim(602 + 30 * days, b),
    ],
    // An address ends what a stranger holds of its own, and not what it has moved on.
    [at(0, a, 'register'), at(1, c, 'voidOwn'), at(2, b, 'voidOwn'), at(3, b, 'voidOwn')],
    [at(0, b, 'register'), at(1, b, 'offerDid', { to: c }), at(2, c, 'acceptDid'), at(3, b, 'voidOwn')],
  ];
  return stories[which % stories.length] as readonly Step[];
}

/** A step; often by whom it is for. */
export function drawStep(draw: Draw, world: World, now: number, hints: Hints): Step {
  const pick = <T>(list: readonly T[]): T => list[draw.below(list.length)] as T;
  const name = pick(NAMES);
  const time = now + (draw.below(3) === 0 ? pick(PAUSES) : draw.below(4));
  const step = { time, by: pick(world.people), name, did: pick(world.dids), salt: ZERO, end: pick(ENDS) };
  const alias = draw.below(3) === 0 && name.startsWith('register') ? ZERO : pick(world.names);
  const to = pick(world.people);
  if (draw.below(5) === 0) return { ...step, alias, to };
  if (name === 'registerFor') {
    const { old, next } = pick(world.pairs);
    const account = draw.below(2) === 0 ? old.address : next.address;
    return { ...step, alias, to: account, end: draw.below(2) === 0 ? 540 : step.end };
  }
  if (name === 'register' && draw.below(2) === 0) {
    const own = world.dids.filter((did) => world.ownerOf.get(did) === step.by);
    return { ...step, alias, to, did: pick(own) };
  }
  if (['update', 'deactivate', 'offerDid', 'moveDid'].includes(name))
    return { ...step, alias, to, by: hints.controllerOf(step.did) ?? step.by };
  // Few, so that commitment and claim meet.
  if (name === 'commitDid')
    return { ...step, alias, to: pick(world.people.slice(0, 3)), did: pick(world.dids.slice(-3)) };
  if (name === 'claimDid')
    return { ...step, alias, to, by: pick(world.people.slice(0, 3)), did: pick(world.dids.slice(-3)) };
  if (name === 'voidOwn') return { ...step, alias, to, by: world.ownerOf.get(step.did) ?? step.by };
  if (name === 'commitAlias') return { ...step, alias, to: pick(world.people.slice(0, 3)) };
  if (name === 'claimAlias') return { ...step, alias, to, by: pick(world.people.slice(0, 3)) };
  if (name === 'acceptDid') return { ...step, alias, to, by: hints.offerOf(step.did) ?? step.by };
  if (name === 'pointAlias' || name === 'freeAlias') {
    const did = hints.didOfAlias(alias);
    return { ...step, alias, to, by: (did && hints.controllerOf(did)) || step.by };
  }
  return { ...step, alias, to };
}
