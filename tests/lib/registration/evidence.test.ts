import { describe, expect, test } from 'bun:test';
import { broken, describeBroken, findBroken } from '../../support/evidence/history.ts';
import * as model from '../../support/evidence/model.ts';
import { findMutant, MUTANTS } from '../../support/evidence/mutants.ts';
import {
  claimsOn,
  credentialOf,
  credentialOfKey,
  holderIn,
  keyOf,
  newWorld,
  type Post,
  type Step,
  secondKeyOf,
  take,
} from '../../support/evidence/world.ts';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';

const HISTORIES = isLong ? 1_000_000 : 10_000;

test(`the model keeps its rules in ${HISTORIES} random histories of claims, copies, re-orgs, failures and moved aliases`, () => {
  const found = findBroken(model, SEED, HISTORIES);
  if (found) throw new Error(describeBroken(found));
});

describe('the check finds a model by which', () => {
  for (const name of Object.keys(MUTANTS)) {
    test(name, () => {
      const found = findMutant(name);
      expect(found).toBeDefined();
      // The shortest history is of the mutant alone: the model keeps every rule in it.
      expect(broken(model, found?.steps ?? [])).toBeUndefined();
    });
  }
});

const mined = (did: string, handle: string | null = null): Step => ({ kind: 'mine', did, handle });
const finalized: Step = { kind: 'finalize' };
const posted = (by: Post['by'], identifier: string, proof: Post['proof'], more: Partial<Post> = {}): Step => ({
  kind: 'post',
  by,
  identifier,
  proof,
  did: `did:${by}:1`,
  credentialId: credentialOf(by),
  ...more,
});
const ALICES = { credentialId: credentialOf('alice') };

/** What a look-up of Alice's credential says after these steps. */
function after(steps: readonly Step[], key: string | null = null) {
  const world = newWorld(model);
  for (const step of steps) take(world, step);
  const found = model.lookUp(claimsOn(world, credentialOf('alice')), key);
  const answer =
    found && `${found.claim.did}${model.isProven(found) ? ', proven' : ''}${found.isAmbiguous ? ', ambiguous' : ''}`;
  return { answer, world, holds: (identifier: string) => holderIn(world, identifier)?.did };
}

describe('a credential', () => {
  const alice = [mined('did:alice:1'), posted('alice', 'email:alice', 'none')];
  const thief = [mined('did:thief:1'), posted('thief', 'handle:red', 'signed', ALICES)];

  test('keeps its DID when a stranger names it in a proof of its own (H1)', () => {
    expect(after([...alice, ...thief, finalized]).answer).toBe('did:alice:1, ambiguous');
    expect(after([...alice, ...thief, finalized], keyOf('alice')).answer).toBe('did:alice:1');
  });

  test('keeps its DID also before its own claim is final, while the stranger has been final for long', () => {
    expect(after([mined('did:thief:1'), finalized, ...alice, ...thief]).answer).toBe('did:alice:1, ambiguous');
  });

  test('is proven by the key of its controller, and keeps its age', () => {
    const proof = posted('alice', 'email:alice', 'signed');
    expect(after([...alice, ...thief, proof, finalized]).answer).toBe('did:alice:1, ambiguous');
    expect(after([...alice, ...thief, proof, finalized], keyOf('alice')).answer).toBe('did:alice:1, proven');
  });

  test('of which a stranger came first is found with the key (H1, 6b)', () => {
    const proof = posted('alice', 'email:alice', 'signed');
    const steps = [...thief, mined('did:alice:1'), proof, finalized];
    expect(after(steps).answer).toBe('did:thief:1, ambiguous');
    expect(after(steps, keyOf('alice')).answer).toBe('did:alice:1, proven');
  });

  test('moves to another DID of its key when that is final, and back when that fails', () => {
    const first = [mined('did:alice:1'), posted('alice', 'email:alice', 'signed')];
    const second = posted('alice', 'handle:red', 'signed', { did: 'did:alice:2' });
    expect(after([...first, second, mined('did:alice:2')]).answer).toBe('did:alice:1, proven');
    expect(after([...first, second, mined('did:alice:2'), finalized]).answer).toBe('did:alice:2, proven');
    const undone: Step = { kind: 'undo', claim: 1 };
    expect(after([...first, second, mined('did:alice:2'), finalized, undone]).answer).toBe('did:alice:1, proven');
  });

  test('is proven where all its keys lead to one DID, though one of them signed for a thief before', () => {
    const key = secondKeyOf('alice');
    const about = { credentialId: credentialOfKey(key) };
    const added = (did: string): Step => ({ kind: 'add key', did, key });
    const steps = [
      mined('did:thief:1'),
      added('did:thief:1'),
      mined('did:alice:1'),
      added('did:alice:1'),
      posted('alice', 'email:shared', 'signed', about),
      posted('thief', 'email:thief', 'signed', { ...about, key }),
      finalized,
    ];
    const again = posted('alice', 'email:alice', 'signed', { ...about, key });
    const answer = (of: readonly Step[]) => {
      const { world } = after(of);
      const found = model.lookUp(claimsOn(world, about.credentialId));
      return [broken(model, of), found?.claim.did, found && model.isProven(found)];
    };
    expect(answer(steps)).toEqual([undefined, 'did:alice:1', false]);
    expect(answer([...steps, again])).toEqual([undefined, 'did:alice:1', true]);
  });

  test('stays found when its claim loses its handle to the alias of another DID', () => {
    const label = [mined('did:alice:1'), posted('alice', 'handle:red', 'signed'), finalized];
    const { answer, holds } = after([...label, mined('did:thief:1', 'handle:red'), finalized]);
    expect([answer, holds('handle:red')]).toEqual(['did:alice:1, proven', undefined]);
  });
});

describe('an address', () => {
  const first = [mined('did:alice:1'), posted('alice', 'email:shared', 'none'), finalized];
  const passes: Step = { kind: 'address passes', to: 'bob' };
  const challenge = [passes, posted('bob', 'email:shared', 'signed')];

  test('is taken by an attested claim with a proof, when that is final', () => {
    expect(after([...first, ...challenge]).holds('email:shared')).toBe('did:alice:1');
    expect(after([...first, ...challenge, mined('did:bob:1')]).holds('email:shared')).toBe('did:alice:1');
    expect(after([...first, ...challenge, mined('did:bob:1'), finalized]).holds('email:shared')).toBe('did:bob:1');
  });

  test('returns when the claim that took it is undone, or a re-org takes it back', () => {
    const undone: Step = { kind: 'undo', claim: 1 };
    const taken = [...first, ...challenge, mined('did:bob:1'), finalized, undone];
    expect(after(taken).holds('email:shared')).toBe('did:alice:1');
    const forgotten = [...first, ...challenge, mined('did:bob:1'), { kind: 'reorg' } as const];
    expect(after(forgotten).holds('email:shared')).toBe('did:alice:1');
  });

  test('comes back to an owner who claims the same DID again', () => {
    const back: Step = { kind: 'address passes', to: 'alice' };
    const again = [back, posted('alice', 'email:shared', 'signed'), finalized];
    expect(after([...first, ...challenge, mined('did:bob:1'), finalized, ...again]).holds('email:shared')).toBe(
      'did:alice:1',
    );
  });
});

describe('a handle', () => {
  test('is not given by a proof, only by the alias (H2)', () => {
    const alice = [mined('did:alice:1', 'handle:red'), posted('alice', 'handle:red', 'none'), finalized];
    const thief = [mined('did:thief:1'), posted('thief', 'handle:red', 'signed'), finalized];
    const { holds, world } = after([...alice, ...thief]);
    expect([holds('handle:red'), world.claims.length]).toEqual(['did:alice:1', 1]);
  });

  test('goes to the DID of its alias, past those who came first', () => {
    const squatter = [posted('thief', 'handle:red', 'none', { isReal: false })];
    const alice = [mined('did:alice:1', 'handle:red'), posted('alice', 'handle:red', 'none')];
    expect(after([...squatter, ...alice]).holds('handle:red')).toBe('did:thief:1');
    expect(after([...squatter, ...alice, finalized]).holds('handle:red')).toBe('did:alice:1');
  });
});

test('a copied DID and transaction keep nobody out, and prove nothing (M1, H3)', () => {
  const copy = posted('thief', 'handle:red', 'none', { did: 'did:alice:1' });
  const { world, answer } = after([mined('did:alice:1'), copy, posted('alice', 'email:alice', 'none'), finalized]);
  expect(answer).toBe('did:alice:1');
  expect(world.claims.map((one) => model.proofsOf(one, holderIn(world, one.identifier), null).controller)).toEqual([
    null,
    null,
  ]);
});
