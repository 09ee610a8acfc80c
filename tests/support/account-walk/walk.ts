import type { Hex } from 'ox';
import { openDraw } from '../draw.ts';
import { toWord } from '../evm/machine.ts';
import { type Book, endOf, isAllowed, isPending, newBook, write } from './book.ts';
import type { Step } from './step.ts';
import { drawStep, take } from './steps.ts';
import { create, look, openFactory, openWorld, PEOPLE, START, type View, type World } from './world.ts';

/** The rule that an account broke, and how it came to that. */
export interface Broken {
  readonly rule: string;
  readonly seed: number;
  readonly steps: readonly Step[];
}

/** Steps of one account, before the next is created. */
const STEPS_OF_ACCOUNT = 250;
const ETHER = 10n ** 18n;

/** Takes so many random steps on accounts of this factory; the first rule that is broken, or undefined. */
export function walk(creationCode: Hex.Hex, seed: number, steps: number): Broken | undefined {
  const opened = openFactory(creationCode);
  for (let i = 0; i * STEPS_OF_ACCOUNT < steps; i++) {
    const world = openWorld(opened, i);
    const broken = walkOne(world, i, seed + i);
    if (broken) return broken;
    world.chain.state.contracts.delete(world.account);
  }
  return undefined;
}

function walkOne(world: World, salt: number, seed: number): Broken | undefined {
  const draw = openDraw(seed);
  const steps: Step[] = [];
  let book = newBook(START, salt % 4 === 0);
  const { size } = look(world);
  while (steps.length < STEPS_OF_ACCOUNT) {
    const step = drawStep(draw, book);
    steps.push(step);
    const [after, rule] = check(world, book, step);
    if (rule) return { rule, seed, steps };
    book = after;
    world.chain.state.time = BigInt(book.now);
    if (step.kind !== 'wait' && after === book && steps.length % 8 !== 0) continue;
    const view = look(world);
    const differing = view.size === size ? difference(world, book, step, view) : 'the address never changes';
    if (differing) return { rule: differing, seed, steps };
  }
  const again = toWord(create(world.chain, world.factory, salt).data);
  return again === world.account ? undefined : { rule: 'the address never changes', seed, steps };
}

/** A broken rule in words, with the last steps. */
export function describeBroken({ rule, seed, steps }: Broken): string {
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  const last = steps.slice(-8).map((step) => `  ${JSON.stringify(step, text)}`);
  return `${rule}: broken at step ${steps.length} of SEED=${seed}\n${last.join('\n')}`;
}

/** Takes a step; the book after it, and the rule that its outcome breaks. */
function check(world: World, book: Book, step: Step): readonly [Book, string | undefined] {
  if (step.kind === 'wait') return [write(book, step), undefined];
  const { ok, data } = take(world, step);
  if (step.kind === 'validate') {
    const end = endOf(book, step);
    const expected = end === undefined ? 1n : BigInt(end) << 160n;
    return [book, ok && toWord(data) === expected ? undefined : 'keys that live sign until their end, and no others'];
  }
  const allowed = isAllowed(book, step);
  if (ok === allowed) return [allowed ? write(book, step) : book, undefined];
  return [book, allowed ? `what is allowed is not refused: ${step.kind}` : ruleAgainst(book, step)];
}

/** The rule that forbids a step. */
function ruleAgainst(book: Book, step: Step): string {
  switch (step.kind) {
    case 'propose':
      if (book.now < book.barredUntil) return 'a bar holds';
      return isPending(book) ? 'one proposal at a time' : 'the guardian proposes, under the present commitment';
    case 'finish':
      return !isPending(book) && book.lastEnd === 'veto' ? 'a veto always wins' : 'no key before its delay';
    case 'veto':
      return 'a key that lives vetoes this proposal';
    case 'remove':
      return book.keys.size === 1 && book.keys.get(step.index) === step.key
        ? 'never zero owners'
        : 'owners change keys';
    case 'pay':
      return 'owners alone move value';
    case 'upgrade':
      return 'owners alone upgrade';
    case 'guardian':
      return 'owners alone set delay and guardian';
    default:
      return 'owners change keys';
  }
}

/** The rule by which what the account says differs from the book. */
function difference({ implementation }: World, book: Book, step: Step, view: View): string | undefined {
  const proposal = isPending(book) ? book.proposal : null;
  if (view.keys.size === 0) return 'never zero owners';
  if (view.wei !== ETHER - book.paid) return 'owners alone move value';
  if (view.leadsTo !== (book.isUpgraded ? implementation : 0n)) return 'owners alone upgrade';
  const extra = Array.from(view.keys).some(([index, key]) => book.keys.get(index) !== key);
  if (extra) return step.kind === 'add' || step.kind === 'remove' ? 'owners change keys' : 'no key before its delay';
  if (view.keys.size !== book.keys.size) return 'owners change keys';
  const { who, delay = 0, commitment = 0n } = book.guardian ?? {};
  if (view.guardian !== (who ? PEOPLE[who] : 0n) || view.delay !== delay || view.commitment !== commitment) {
    return 'owners alone set delay and guardian';
  }
  if (view.vetoes !== book.vetoes || view.barredUntil !== book.barredUntil) return 'a bar holds';
  if (view.id !== (proposal?.id ?? 0)) return book.lastEnd === 'veto' ? 'a veto always wins' : 'one proposal at a time';
  if (proposal && (view.proposed !== proposal.key || view.readyAt !== proposal.readyAt))
    return 'no key before its delay';
  return undefined;
}
