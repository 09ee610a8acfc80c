import { Hex } from 'ox';
import {
  encodeSignature,
  NO_END,
  operationDigest,
  operationPayload,
  type Signer,
  signDigest,
  vetoDigest,
} from '../../../scripts/dev-stack/account2.ts';
import type { Draw } from '../draw.ts';
import { toBytes32, toWord } from '../evm/machine.ts';
import type { Book } from './book.ts';
import { DAY, type Step } from './step.ts';
import { encode, PEOPLE, type Person, POINTS, selectorOf, WALLETS, type World } from './world.ts';

const DELAYS = [3 * DAY, 3 * DAY, 3 * DAY, 7 * DAY, 365 * DAY, 3 * DAY - 1, 365 * DAY + 1, 0];
const COMMITMENTS = [11n, 12n];
const LABEL = 0x4e6577n;

/** How often each kind is drawn. */
const WEIGHTS: readonly (readonly [Step['kind'], number])[] = [
  ['wait', 24],
  ['propose', 20],
  ['finish', 16],
  ['add', 10],
  ['remove', 9],
  ['cancel', 6],
  ['guardian', 5],
  ['name', 3],
  ['pay', 3],
  ['upgrade', 1],
  ['veto', 2],
  ['validate', 1],
];
const ALL = WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);

/** Draws a step that might do something, now and then one that must not. */
export function drawStep(draw: Draw, book: Book): Step {
  const pick = <T>(from: readonly T[]) => from[draw.below(from.length)] as T;
  const rarely = () => draw.below(8) === 0;
  const owner = (): Person =>
    rarely() ? pick(['guardian', 'second', 'stranger'] as const) : pick(['owners', 'itself'] as const);
  const anyone = (): Person => pick(['owners', 'itself', 'guardian', 'second', 'stranger'] as const);
  const [index = 0, key = 0] = pick([...book.keys]) ?? [];
  const [formerIndex, formerKey] = pick(book.former.length > 0 ? book.former : [[0, 0] as const]);
  const guardian = book.guardian ? book.guardian.who : pick(['guardian', 'second'] as const);
  const kind = kindAt(draw.below(ALL));
  switch (kind) {
    case 'wait':
      return { kind, seconds: pick(moments(book)) };
    case 'add':
      return { kind, by: owner(), key: draw.below(2) ? draw.below(POINTS) : POINTS + draw.below(WALLETS) };
    case 'remove':
      // Some accounts gather keys.
      if (book.isGathering) return { kind: 'add', by: owner(), key: POINTS + draw.below(WALLETS) };
      return { kind, by: owner(), key: rarely() ? draw.below(POINTS) : key, index: rarely() ? draw.below(40) : index };
    case 'name':
      return { kind, by: owner(), index: rarely() ? draw.below(40) : index };
    case 'guardian': {
      const who = pick(['guardian', 'guardian', 'second', 'none'] as const);
      return { kind, by: owner(), who, delay: pick(DELAYS), commitment: pick(COMMITMENTS) };
    }
    case 'propose': {
      const commitment = rarely() ? pick(COMMITMENTS) : (book.guardian?.commitment ?? 0n);
      return { kind, by: rarely() ? anyone() : guardian, key: draw.below(POINTS + 1), commitment };
    }
    case 'veto': {
      const { id, key: proposed } = book.proposal ?? { id: book.lastId, key: 1 };
      const other = { id: rarely() ? draw.below(id + 2) : id, proposed: rarely() ? draw.below(POINTS) : proposed };
      const by = rarely() ? { key: formerKey, index: formerIndex } : { key, index: rarely() ? draw.below(33) : index };
      return { kind, by: anyone(), ...by, ...other, isOwn: !rarely() };
    }
    case 'validate': {
      const by = rarely() ? { key: formerKey, index: formerIndex } : { key, index: rarely() ? draw.below(33) : index };
      return { kind, ...by, until: pick([NO_END, NO_END, book.now, 0, NO_END + 1]), isSigned: !rarely() };
    }
    default:
      return { kind, by: kind === 'cancel' || kind === 'finish' ? anyone() : owner() };
  }
}

/** What the account answers to a step, which is not a wait. */
export function take(world: World, step: Exclude<Step, { kind: 'wait' }>) {
  const { by, data } = callOf(world, step);
  return world.chain.call(by, world.account, data);
}

/** The call that a step is. */
export function callOf(world: World, step: Exclude<Step, { kind: 'wait' }>): { by: bigint; data: Uint8Array } {
  if (step.kind === 'validate') return { by: PEOPLE.owners, data: validation(world, step) };
  return { by: step.by === 'itself' ? world.account : PEOPLE[step.by], data: dataOf(world, step) };
}

function dataOf(world: World, step: Exclude<Step, { kind: 'wait' | 'validate' }>): Uint8Array {
  const keyOf = (number: number) => world.keys[number] as Signer;
  switch (step.kind) {
    case 'add':
      return encode(selectorOf('addKey'), keyOf(step.key).x, keyOf(step.key).y, LABEL);
    case 'remove':
      return encode(selectorOf('removeKey'), BigInt(step.index), keyOf(step.key).x, keyOf(step.key).y);
    case 'name':
      return encode(selectorOf('nameKey'), BigInt(step.index), LABEL);
    case 'guardian': {
      const who = step.who === 'none' ? 0n : PEOPLE[step.who];
      return encode(selectorOf('setGuardian'), who, BigInt(step.delay), step.commitment);
    }
    case 'propose':
      return encode(selectorOf('proposeRecovery'), keyOf(step.key).x, keyOf(step.key).y, LABEL, step.commitment);
    case 'pay':
      return Buffer.concat([EXECUTE, toBytes32(PEOPLE.stranger), toBytes32(1n), toBytes32(96n), toBytes32(0n)]);
    case 'upgrade':
      return Buffer.concat([
        selectorOf('upgradeToAndCall'),
        toBytes32(world.implementation),
        toBytes32(64n),
        toBytes32(0n),
      ]);
    case 'veto':
      return encodeBytes(selectorOf('vetoRecovery'), veto(world, step));
    case 'cancel':
      return selectorOf('cancelRecovery');
    case 'finish':
      return selectorOf('finishRecovery');
  }
}

function veto(world: World, step: Extract<Step, { kind: 'veto' }>): Hex.Hex {
  const { x, y } = world.keys[step.proposed] as Signer;
  const account = Hex.fromNumber(step.isOwn ? world.account : world.factory, { size: 20 });
  const signer = world.keys[step.key] as Signer;
  return signDigest({ ...signer, index: step.index }, vetoDigest(account, 84532, { id: step.id, x, y }));
}

/** `validateUserOp` of an operation of which only the signature counts here. */
function validation(world: World, step: Extract<Step, { kind: 'validate' }>): Uint8Array {
  const signer = world.keys[step.key] as Signer;
  const userOpHash = Hex.fromNumber(HASH, { size: 32 });
  const digest =
    signer.kind === 'passkey' ? operationDigest(userOpHash, step.until) : typed(world, userOpHash, step.until);
  const signed = step.isSigned ? digest : Hex.fromNumber(HASH + 1n, { size: 32 });
  const signature = Hex.toBytes(encodeSignature({ index: step.index }, signer.sign(signed), step.until));
  const empty = Array.from({ length: 8 }, () => toBytes32(0x120n));
  const head = [toBytes32(0x60n), toBytes32(HASH), toBytes32(0n)];
  return Buffer.concat([
    selectorOf('validateUserOp'),
    ...head,
    ...empty,
    toBytes32(0x140n),
    toBytes32(0n),
    toBytes32(BigInt(signature.length)),
    signature,
    new Uint8Array(32 - (signature.length % 32)),
  ]);
}

function typed({ account }: World, userOpHash: Hex.Hex, validUntil: number): Hex.Hex {
  return operationPayload(Hex.fromNumber(account, { size: 20 }), 84532, userOpHash, validUntil);
}

function encodeBytes(selector: Uint8Array, bytes: Hex.Hex): Uint8Array {
  const data = Hex.toBytes(bytes);
  const padding = new Uint8Array((32 - (data.length % 32)) % 32);
  return Buffer.concat([selector, toBytes32(32n), toBytes32(BigInt(data.length)), data, padding]);
}

/** Waits that come to an edge of a rule, and others. */
function moments({ now, proposal, barredUntil }: Book): number[] {
  const edges = [barredUntil - 1, barredUntil];
  if (proposal) {
    const { readyAt } = proposal;
    edges.push(readyAt - 1, readyAt, readyAt, readyAt, readyAt + 30 * DAY - 1, readyAt + 30 * DAY);
  }
  return [1, 3600, DAY, ...edges.filter((edge) => edge > now).map((edge) => edge - now)];
}

function kindAt(drawn: number): Step['kind'] {
  let left = drawn;
  for (const [kind, weight] of WEIGHTS) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'wait';
}

const HASH = toWord(new Uint8Array(32).fill(0x5a));
const EXECUTE = Hex.toBytes('0xb61d27f6');
