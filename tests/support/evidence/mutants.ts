import { type Broken, findBroken } from './history.ts';
import * as model from './model.ts';
import type { Model } from './world.ts';

type Claims = readonly model.Claim[];

const live = (claims: Claims) => claims.filter(({ isFailed }) => !isFailed);
const latestProven = (claims: Claims) => live(claims).findLast((one) => one.isFinal && one.proofKey !== null);

const unremoved = (claim: model.Claim): model.Claim => ({ ...claim, removedKeys: [] });

/** The holder that the model names if it reads the claims differently. */
function holderAs(read: (claim: model.Claim) => model.Claim): Pick<Model, 'holderOf'> {
  return {
    holderOf(claims) {
      const holder = model.holderOf(claims.map(read));
      return claims.find(({ id }) => id === holder?.id);
    },
  };
}

/** The look-up without a key, changed. */
function lookUpAs(change: (found: model.Found, claims: Claims) => model.Found | undefined): Pick<Model, 'lookUp'> {
  return {
    lookUp(claims, key = null) {
      const found = model.lookUp(claims, key);
      return found && key === null ? change(found, claims) : found;
    },
  };
}

/** The look-up without a key, if rows were as old as this. */
function aged(ageOf: (row: model.CredentialRow, claims: Claims) => number): Pick<Model, 'lookUp'> {
  return lookUpAs((found, claims) => {
    const rows = model.credentialRows(claims).map((row) => ({ ...row, since: ageOf(row, claims) }));
    const sorted = rows.sort((one, other) => one.since - other.since);
    return { ...found, ...(sorted.find(({ claim }) => claim.isRegistered) ?? sorted[0]) };
  });
}

/** Wrong models, each by the rule that it breaks. Some are rules of before, or of a draft of the present ones. */
export const MUTANTS: Readonly<Record<string, Partial<Model>>> = {
  'a proof displaces when it is submitted': holderAs((claim) => {
    const { proof, proofKey } = claim;
    return { ...claim, isFinal: claim.isFinal || proof !== null, proofKey: proofKey ?? proof };
  }),
  'a proof displaces when it is confirmed': holderAs((claim) => ({ ...claim, isFinal: claim.isRegistered })),
  'a failed claim still holds its identifier': holderAs((claim) => ({ ...claim, isFailed: false })),
  'a proof that names a credential takes it': lookUpAs((found, claims) => {
    const claim = latestProven(claims);
    return claim ? { ...found, claim, key: claim.proofKey } : found;
  }),
  'the first final row answers, not the first confirmed one': lookUpAs((found, claims) => {
    const rows = model.credentialRows(claims).filter(({ claim }) => claim.isFinal);
    return { ...found, ...rows[0], isAmbiguous: new Set(rows.map(({ claim }) => claim.did)).size > 1 };
  }),
  'a row is as old as its first proof': aged(({ key, since }, claims) =>
    key === null ? since : (live(claims).find(({ proofKey }) => proofKey === key)?.id ?? since),
  ),
  'a second person with a final claim makes nothing ambiguous': lookUpAs((found) => ({ ...found, isAmbiguous: false })),
  'a claim that lost its handle loses its credential': {
    lookUp: (claims, key) =>
      model.lookUp(
        claims.filter(({ isLost }) => !isLost),
        key,
      ),
  },
  'a removed key still leads': { lookUp: (claims, key) => model.lookUp(claims.map(unremoved), key) },
  'a claim without proof answers in place of a removed key': {
    lookUp: (claims, key) =>
      model.lookUp(
        claims.map((one) => (one.proofKey === null ? unremoved(one) : one)),
        key,
      ),
  },
  'a key that was removed takes its identifier along': holderAs((claim) => ({
    ...claim,
    isFinal: claim.isFinal && !claim.removedKeys.includes(claim.proofKey ?? ''),
  })),
  'only the first key of an account counts': {
    lookUp: (claims, key) =>
      model.lookUp(
        claims.map((one) => ({ ...one, controllerKeys: one.controllerKeys?.slice(0, 1) ?? null })),
        key,
      ),
  },
  'any key that the account ever had still counts': {
    lookUp: (claims, key) =>
      model.lookUp(
        claims.map((one) => ({ ...one, controllerKeys: [...(one.controllerKeys ?? []), ...one.removedKeys] })),
        key,
      ),
  },
  'a contract that shows a key answers once its account has lost it (X48)': {
    lookUp: (claims, key) =>
      model.lookUp(
        claims.filter(({ proofKey, removedKeys }) => !removedKeys.includes(proofKey ?? '')),
        key,
      ),
  },
  'the key of a look-up is ignored': { lookUp: (claims) => model.lookUp(claims) },
  'a confirmed claim is proven': { isProven: ({ claim, isAmbiguous }) => claim.isRegistered && !isAmbiguous },
  'a proof counts before it is verified': {
    proofsOf: (claim, ...rest) => ({
      ...model.proofsOf(claim, ...rest),
      controller: claim.proof === null ? null : 'passkey',
    }),
  },
  'a proof counts before the chain shows the DID': {
    proofsOf: (claim, ...rest) => ({
      ...model.proofsOf(claim, ...rest),
      controller: claim.proofKey === null ? null : 'passkey',
    }),
  },
  'a proof gives a handle': { holderOf: (claims) => latestProven(claims) ?? model.holderOf(claims) },
  'a session keeps a handle from the DID that its alias leads to': {
    verdictOn: (claim, by) =>
      by.sessionDid !== null && by.sessionDid !== claim.did ? 'identifier_taken' : model.verdictOn(claim, by),
  },
  'a claim without proof takes an address': {
    verdictOn: (claim, by) => (claim.channel === 'handle' ? model.verdictOn(claim, by) : 'admitted'),
    holderOf: (claims) => live(claims).findLast(({ isFinal }) => isFinal) ?? model.holderOf(claims),
  },
  'a DID that is claimed is taken': {
    verdictOn: (claim, by) =>
      live([...by.ofIdentifier, ...by.ofCredential]).some(({ did }) => did === claim.did)
        ? 'identifier_taken'
        : model.verdictOn(claim, by),
  },
  'any claim of another DID keeps a credential from its owner': {
    verdictOn: (claim, by) =>
      claim.proof === null && live(by.ofCredential).some(({ did }) => did !== claim.did)
        ? 'credential_already_registered'
        : model.verdictOn(claim, by),
  },
  'a retry is one whatever its proof': {
    isRetry: (asked, stored) =>
      !stored.isFailed &&
      !stored.isLost &&
      (['identifier', 'did', 'credentialId', 'txHash'] as const).every((name) => asked[name] === stored[name]),
  },
  'a retry is one whatever its key': { isRetry: (asked, ...rest) => model.isRetry({ ...asked, key: null }, ...rest) },
  'the copy of a handle with a false proof is the retry of its owner': {
    isRetry: (asked, stored, claims) =>
      model.isRetry(asked.channel === 'handle' ? { ...asked, proof: stored.proof } : asked, stored, claims),
  },
};

/** More than enough for every mutant: each needs fewer than 3,000. */
const HISTORIES_OF_MUTANT = 20_000;
/** The history that shows a mutant first, where many others come before it. Of another model it may be a later one. */
const SOONEST: Readonly<Record<string, number>> = {
  'a proof that names a credential takes it': 108,
  'the first final row answers, not the first confirmed one': 108,
  'a row is as old as its first proof': 1567,
  'a second person with a final claim makes nothing ambiguous': 108,
  'a claim that lost its handle loses its credential': 172,
  'a claim without proof takes an address': 642,
  'any claim of another DID keeps a credential from its owner': 597,
  'a retry is one whatever its proof': 75,
  'a retry is one whatever its key': 2532,
  'the copy of a handle with a false proof is the retry of its owner': 319,
};
const found = new Map<string, Broken | undefined>();

/** The shortest history that shows a mutant. Searched once a process: two test files ask. */
export function findMutant(name: string): Broken | undefined {
  const search = () => findBroken({ ...model, ...MUTANTS[name] }, SOONEST[name] ?? 1, HISTORIES_OF_MUTANT);
  if (!found.has(name)) found.set(name, search());
  return found.get(name);
}
