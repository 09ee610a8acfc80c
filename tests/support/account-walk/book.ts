// What an account's state must be, by the rules of docs/contracts.md alone: no line of it is taken from the contract.
import { DAY, type Step } from './step.ts';
import { type Person, POINTS } from './world.ts';

/** What is so after some steps. */
export interface Book {
  readonly now: number;
  /** Numbers of keys by index. */
  readonly keys: ReadonlyMap<number, number>;
  /** Keys that owners removed, with the indices they had. */
  readonly former: readonly (readonly [index: number, key: number])[];
  readonly guardian: { readonly who: Person; readonly delay: number; readonly commitment: bigint } | null;
  readonly vetoes: number;
  readonly barredUntil: number;
  readonly proposal: { readonly id: number; readonly key: number; readonly readyAt: number } | null;
  readonly lastId: number;
  readonly lastEnd: 'veto' | 'other';
  readonly paid: bigint;
  readonly isUpgraded: boolean;
  /** Whether owners of this account rather add than remove. */
  readonly isGathering: boolean;
}

const INDICES = 32;

/** The book of an account that was just created. */
export function newBook(now: number, isGathering: boolean): Book {
  return {
    now,
    keys: new Map([[0, 0]]),
    former: [],
    guardian: null,
    vetoes: 0,
    barredUntil: 0,
    proposal: null,
    lastId: 0,
    lastEnd: 'other',
    paid: 0n,
    isUpgraded: false,
    isGathering,
  };
}

/** Whether a step must succeed; it must fail otherwise. A validation always answers. */
export function isAllowed(book: Book, step: Step): boolean {
  switch (step.kind) {
    case 'wait':
    case 'validate':
      return true;
    case 'add':
      return isOwner(step.by) && book.keys.size < 24 && isNew(book, step.key);
    case 'remove':
      return isOwner(step.by) && book.keys.get(step.index) === step.key && book.keys.size > 1;
    case 'name':
      return isOwner(step.by) && book.keys.has(step.index);
    case 'guardian':
      return isOwner(step.by) && (step.who === 'none' || (step.delay >= 3 * DAY && step.delay <= 365 * DAY));
    case 'pay':
    case 'upgrade':
      return isOwner(step.by);
    case 'cancel':
      return isPending(book) && (isOwner(step.by) || step.by === book.guardian?.who);
    case 'propose': {
      const { guardian } = book;
      if (step.by !== guardian?.who || step.commitment !== guardian.commitment) return false;
      return book.now >= book.barredUntil && !isPending(book) && step.key < POINTS && isNew(book, step.key);
    }
    case 'finish': {
      const { proposal, now } = book;
      if (!proposal || !isPending(book) || now < proposal.readyAt) return false;
      return !isNew(book, proposal.key) || freeIndex(book, proposal.key) !== undefined;
    }
    case 'veto': {
      const { proposal } = book;
      if (!proposal || !isPending(book) || !step.isOwn) return false;
      return step.id === proposal.id && step.proposed === proposal.key && book.keys.get(step.index) === step.key;
    }
  }
}

/** Whether a validation must accept: the end it must answer, or undefined. */
export function endOf(book: Book, step: Extract<Step, { kind: 'validate' }>): number | undefined {
  const isGood = step.isSigned && book.keys.get(step.index) === step.key && step.until > 0 && step.until < 2 ** 47;
  return isGood ? step.until : undefined;
}

/** The book after a step that was allowed. */
export function write(book: Book, step: Step): Book {
  switch (step.kind) {
    case 'wait':
      return { ...book, now: book.now + step.seconds };
    case 'add':
      return { ...book, keys: withKey(book, step.key) };
    case 'remove':
      return {
        ...book,
        keys: new Map([...book.keys].filter(([index]) => index !== step.index)),
        former: [...book.former, [step.index, step.key]],
      };
    case 'pay':
      return { ...book, paid: book.paid + 1n };
    case 'upgrade':
      return { ...book, isUpgraded: true };
    case 'guardian': {
      const { who, delay, commitment } = step;
      const guardian = who === 'none' ? null : { who, delay, commitment };
      return { ...book, guardian, vetoes: 0, barredUntil: 0, proposal: null, lastEnd: 'other' };
    }
    case 'cancel':
      return step.by === book.guardian?.who ? { ...book, proposal: null, lastEnd: 'other' } : vetoed(book);
    case 'veto':
      return vetoed(book);
    case 'propose': {
      const id = book.lastId + 1;
      const proposal = { id, key: step.key, readyAt: book.now + (book.guardian?.delay ?? 0) };
      return { ...book, proposal, lastId: id };
    }
    case 'finish': {
      const key = book.proposal?.key ?? -1;
      const keys = isNew(book, key) ? withKey(book, key) : book.keys;
      return { ...book, keys, proposal: null, vetoes: 0, lastEnd: 'other' };
    }
    default:
      return book;
  }
}

/** Whether there is a proposal that has not ended. */
export function isPending({ proposal, now }: Book): boolean {
  return proposal !== null && now < proposal.readyAt + 30 * DAY;
}

function vetoed(book: Book): Book {
  const isSecond = book.vetoes === 1;
  const bar = isSecond ? { vetoes: 0, barredUntil: book.now + 30 * DAY } : { vetoes: 1 };
  return { ...book, ...bar, proposal: null, lastEnd: 'veto' };
}

function isOwner(by: Person): boolean {
  return by === 'owners' || by === 'itself';
}

function isNew({ keys }: Book, key: number): boolean {
  return !Array.from(keys.values()).includes(key);
}

function withKey(book: Book, key: number): ReadonlyMap<number, number> {
  const index = freeIndex(book, key);
  if (index === undefined) throw new Error('no index is free');
  return new Map([...book.keys, [index, key] as const].sort(([one], [other]) => one - other));
}

/** The first key has an index of its own. */
function freeIndex({ keys }: Book, key: number): number | undefined {
  if (key === 0) return 0;
  return Array.from({ length: INDICES - 1 }, (_, i) => i + 1).find((index) => !keys.has(index));
}
