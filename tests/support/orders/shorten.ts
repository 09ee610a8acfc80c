// Makes an order that violates something smaller.
import { type Order, type Pair, type PlayedWrong, playOne } from './play.ts';
import type { Stand, Step } from './stage.ts';
import type { Plant } from './vaults.ts';

/** What a failure says. */
export function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}

/**
 * Leaves out the stands that the violation does not need, and makes the others plainer: fast-check leaves out those in
 * front only.
 */
export async function shorten(
  pair: Pair,
  { isShared, stands }: Order,
  plant: Plant | undefined,
  isStill: (violation: string) => boolean,
): Promise<Pick<Order, 'stands'> & Pick<PlayedWrong, 'steps'> & { readonly violation?: string }> {
  const wrong = (some: readonly Stand[]): Promise<PlayedWrong | undefined> =>
    playOne(pair, { isShared, stands: some }, plant).then(
      () => undefined,
      (wrong) => wrong,
    );
  const isSame = async (some: readonly Stand[]) => {
    const played = await wrong(some);
    return played !== undefined && isStill(messageOf(played.failure));
  };
  let left = await fewest(stands, isSame);
  for (const [at, stand] of left.entries()) {
    // Who has ended comes in between no more.
    for (const plainer of [{ done: Number.POSITIVE_INFINITY, pauseMs: 0 }, { pauseMs: 0 }]) {
      const changed = left.with(at, { ...stand, ...plainer });
      if (!(await isSame(changed))) continue;
      left = changed;
      break;
    }
  }
  left = await fewest(left, isSame);
  const { steps = [], failure } = (await wrong(left)) ?? {};
  return { stands: left, steps, ...(failure === undefined ? {} : { violation: messageOf(failure) }) };
}

/** As few of them as it takes: leaves out many at once first, and one by one last. */
async function fewest(
  stands: readonly Stand[],
  isEnough: (some: readonly Stand[]) => Promise<boolean>,
): Promise<readonly Stand[]> {
  let left = stands;
  for (let size = Math.ceil(left.length / 2); size > 0; ) {
    const before = left;
    for (let at = 0; at < left.length; ) {
      const fewer = left.toSpliced(at, size);
      [left, at] = (await isEnough(fewer)) ? [fewer, at] : [left, at + size];
    }
    if (size > 1 || left === before) size = Math.floor(size / 2);
  }
  return left;
}

/** The steps of parties before which others come in between. */
export function interruptionsOf(steps: readonly Step[]): readonly string[] {
  const done = new Map<string, number>();
  return steps.flatMap(({ who }, i) => {
    const own = done.get(who) ?? 0;
    done.set(who, own + 1);
    return own > 0 && steps[i - 1]?.who !== who ? [`${who} ${own}`] : [];
  });
}

/** A stand in words. */
export function wordsOf({ who, before, until, done, pauseMs }: Stand): string {
  const pause = pauseMs > 0 ? `, and ${pauseMs} ms more` : '';
  const end = Number.isFinite(done) ? `has done ${done}` : 'has ended';
  return `${who} stands still before step ${before + 1} of its own until ${until} ${end}${pause}`;
}
