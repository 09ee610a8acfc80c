import { isoTime, systemClock } from '../../lib/base/clock.ts';
import type { AttestedPurpose } from '../../lib/base/purpose.ts';
import { openAttestation } from '../../lib/verification/attestation.ts';
import type { Arguments } from '../cli/arguments.ts';
import type { EvidenceJudgement } from './judgement.ts';
import { vaultKeys } from './vault-keys.ts';

const PURPOSES: readonly AttestedPurpose[] = ['registration', 'recovery'];
const MEMBERS = ['identifier', 'channel', 'verified_at', 'expires_at', 'registrar'] as const;

/** Judges an attestation: its MAC by the keys of the settings, its times by the clock, its registrar. */
export function judgeAttestation(given: Arguments, value: Readonly<Record<string, unknown>>): EvidenceJudgement {
  const said = Object.fromEntries(MEMBERS.map((name) => [name, textOf(value[name])]));
  const judged = (
    verdict: EvidenceJudgement['verdict'],
    finding: string,
    purpose: AttestedPurpose | null = null,
  ): EvidenceJudgement => ({
    kind: 'attestation',
    verdict,
    finding,
    facts: { ...said, purpose },
    notes: verdict === 'not_good' ? [] : NOTES,
  });
  const expires = said['expires_at'];
  if (MEMBERS.some((name) => said[name] === null) || !expires || Number.isNaN(Date.parse(expires)))
    return judged('not_good', 'A member is missing or malformed.');
  const now = systemClock.now();
  const vault = vaultKeys(given);
  const purpose = vault && PURPOSES.find((one) => openAttestation(vault.keys.attestation, value, one));
  if (vault && !purpose) return judged('not_good', 'No key of this vault signed it, or somebody changed it.');
  if (Date.parse(expires) <= now) return judged('not_good', `It ended at ${expires}; it is ${isoTime(now)}.`, purpose);
  if (!vault) return judged('undecided', NO_KEY);
  if (said['registrar'] !== vault.config.registrarDid)
    return judged('not_good', 'This vault signed it under another REGISTRAR_DID, and takes it no more.', purpose);
  return judged('good', 'This vault signed it, and it has not ended.', purpose);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const NO_KEY =
  'Its signature is a MAC, which only the vault that made it can check: run this with the settings of that vault (--config).';
const NOTES = ['Whether it was used already, only the database of the vault knows: it serves once.'];
