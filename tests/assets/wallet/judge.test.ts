import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { judge, type Outcome, type SeenOperation, type Signed, type Version } from '../../../assets/wallet/judge.ts';
import { always } from '../../support/property.ts';

const ENTRY_POINT = '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108';
const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const OURS = `0x${'0a'.repeat(32)}` as const;
const OTHER = `0x${'0b'.repeat(32)}` as const;
const VOID = `0x${'0c'.repeat(32)}` as const;

const pay: Version = { kind: 'pay', userOpHash: OURS, validUntil: 1_000 };
const empty: Version = { kind: 'void', userOpHash: VOID, validUntil: 1_300 };
const signed = (more: Partial<Signed> = {}): Signed => ({
  chainId: 84532,
  entryPoint: ENTRY_POINT.toLowerCase(),
  token: USDC,
  versions: [pay],
  ...more,
});
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  chainId: 84532,
  entryPoint: ENTRY_POINT,
  head: { number: 100, time: 900 },
  final: { number: 90, time: 800 },
  spent: false,
  spentFinal: false,
  next: 101,
  operation: null,
  ...more,
});
const seen = (more: Partial<SeenOperation> = {}): Outcome =>
  outcome({
    spent: true,
    operation: {
      userOpHash: OURS,
      txHash: OTHER,
      block: 95,
      success: true,
      moved: true,
      final: false,
      ...more,
    },
  });
const late = { head: { number: 100, time: 1_020 }, final: { number: 99, time: 1_001 } };

describe('paid', () => {
  test.each([
    ['our operation, whose token shows the transfer', signed(), seen()],
    ['our operation, whose ether nothing else shows', signed({ token: 'native' }), seen({ moved: null })],
    ['an operation of another device that moved the same money', signed(), seen({ userOpHash: OTHER })],
    ['the same, before this device signed anything', signed({ versions: [] }), seen({ userOpHash: OTHER })],
    ['the first of two versions', signed({ versions: [pay, empty] }), seen()],
    ['after its end', signed(), { ...seen(), ...late }],
  ])('%s', (_, record, what) => {
    expect(judge(record, what)).toMatchObject({ is: 'paid', operation: { userOpHash: what.operation?.userOpHash } });
  });
});

describe('nothing was paid, by a final block', () => {
  test.each([
    ['its time is over and the nonce unspent', signed(), outcome(late), 'ended'],
    [
      'our own void',
      signed({ versions: [pay, empty] }),
      seen({ userOpHash: VOID, moved: false, final: true }),
      'voided',
    ],
    ['our own operation reverted', signed(), seen({ success: false, moved: false, final: true }), 'reverted'],
    [
      'another operation that moved nothing of this',
      signed(),
      seen({ userOpHash: OTHER, moved: false, final: true }),
      'spent',
    ],
    [
      'another operation that failed',
      signed(),
      seen({ userOpHash: OTHER, success: false, moved: null, final: true }),
      'spent',
    ],
  ] as const)('%s', (_, record, what, why) => {
    expect(judge(record, what)).toEqual({ is: 'nothing', why });
  });
});

describe('everything else is open', () => {
  const endless: Version = { kind: 'pay', userOpHash: OURS };
  test.each([
    ['unspent, in time', signed(), outcome(), 'none'],
    ['its time is over at the head alone', signed(), outcome({ head: late.head }), 'late'],
    ['its time is over, and the node knows no final block', signed(), outcome({ ...late, final: null }), 'late'],
    ['the last second itself', signed(), outcome({ final: { number: 99, time: 1_000 } }), 'none'],
    ['a newer version ends later', signed({ versions: [pay, empty] }), outcome(late), 'none'],
    // Its end is in the signature, not in the hash.
    [
      'the same hash signed again, to a later end',
      signed({ versions: [{ ...pay, validUntil: 2_000 }, pay] }),
      outcome(late),
      'none',
    ],
    ['one that never ends', signed({ versions: [endless] }), outcome(late), 'none'],
    ['one that never ends beside one that does', signed({ versions: [endless, pay] }), outcome(late), 'none'],
    ['nothing was signed here', signed({ versions: [] }), outcome(late), 'none'],
    ['spent by what is not found yet', signed(), outcome({ spent: true }), 'searching'],
    ['unspent when final, but spent since', signed(), outcome({ ...late, spent: true }), 'searching'],
    ['another chain, where the nonce looks unspent', signed(), outcome({ ...late, chainId: 8453 }), 'none'],
    ['another EntryPoint', signed(), outcome({ ...late, entryPoint: USDC }), 'none'],
    [
      'a void that is not final',
      signed({ versions: [pay, empty] }),
      seen({ userOpHash: VOID, moved: false }),
      'undone',
    ],
    ['a revert that is not final', signed(), seen({ success: false, moved: false }), 'undone'],
    ['our operation, whose token shows no transfer', signed(), seen({ moved: false, final: true }), 'unclear'],
    ['our operation, which moved another amount', signed(), seen({ moved: null, final: true }), 'unclear'],
    [
      'another operation whose ether cannot be read',
      signed({ token: 'native' }),
      seen({ userOpHash: OTHER, moved: null, final: true }),
      'unclear',
    ],
  ] as const)('%s', (_, record, what, sign) => {
    expect(judge(record, what)).toMatchObject({ is: 'open', sign });
  });
});

describe('over a chain that grows, takes blocks back, and includes what it likes', () => {
  /** Blocks of 10 s. What spends the nonce: a version of the record, or a stranger's operation. */
  const worlds = fc.record({
    versions: fc.array(
      fc.record({ isVoid: fc.boolean(), end: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }) }),
      { maxLength: 4 },
    ),
    /** The block that spends the nonce, in each of two branches of the chain; the version, -1 for another operation. */
    branches: fc.tuple(fc.option(fc.record(spender())), fc.option(fc.record(spender()))),
    /** Blocks that both branches share; none of them is taken back. */
    shared: fc.integer({ min: 0, max: 40 }),
    isEther: fc.boolean(),
    looks: fc.array(
      fc.record({ branch: fc.constantFrom(0, 1), head: fc.integer({ min: 0, max: 60 }), depth: fc.nat(5) }),
    ),
  });
  function spender() {
    return {
      at: fc.integer({ min: 1, max: 60 }),
      version: fc.integer({ min: -1, max: 3 }),
      success: fc.boolean(),
      moves: fc.boolean(),
    };
  }

  test('paid means that the money moved, and nothing that it never will', () => {
    always(
      worlds,
      ({ versions, branches, shared, isEther, looks }) => {
        const known = versions.map(({ isVoid, end }, i): Version => {
          const userOpHash = `0x${String(i).padStart(64, '0')}` as const;
          return { kind: isVoid ? 'void' : 'pay', userOpHash, ...(end === undefined ? {} : { validUntil: end * 10 }) };
        });
        const record = signed({ versions: known, token: isEther ? 'native' : USDC });
        /** What a branch holds: only what can be included then. */
        const fates = branches.map((given, i) => {
          const spent = given ?? undefined;
          // What is in the blocks that both share is the same in both.
          const first = branches[0];
          const chosen =
            first && first.at <= shared ? first : spent && (i === 0 || spent.at > shared) ? spent : undefined;
          if (!chosen) return undefined;
          const version = known[chosen.version];
          if (chosen.version >= 0 && !version) return undefined;
          if ((version?.validUntil ?? Number.POSITIVE_INFINITY) < chosen.at * 10) return undefined;
          const moved = chosen.success && (version ? version.kind === 'pay' : chosen.moves);
          return { at: chosen.at, userOpHash: version?.userOpHash ?? OTHER, success: chosen.success, moved };
        });
        for (const { branch, head, depth } of looks) {
          const fate = fates[branch];
          // What is final is never taken back: it is shared.
          const final = Math.min(shared, head - depth);
          const isSpent = (at: number) => fate !== undefined && fate.at <= at;
          const verdict = judge(
            record,
            outcome({
              head: { number: head, time: head * 10 },
              final: final < 0 ? null : { number: final, time: final * 10 },
              spent: isSpent(head),
              spentFinal: isSpent(final),
              operation:
                fate && isSpent(head) ? { ...fate, txHash: OTHER, block: fate.at, final: fate.at <= final } : null,
            }),
          );
          if (verdict.is === 'paid') expect(fate?.moved && fate.at <= head).toBe(true);
          // In no branch did or will any of these bytes move the money.
          if (verdict.is === 'nothing') {
            const own = fates.filter((one) => one?.moved && one.userOpHash !== OTHER);
            expect(own).toEqual([]);
            if (verdict.why !== 'ended') expect(fate?.moved).toBe(false);
          }
        }
      },
      3_000,
    );
  });
});
