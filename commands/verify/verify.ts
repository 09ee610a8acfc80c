import { isObject, parseJson } from '../../lib/base/json.ts';
import { type Arguments, needOption, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, HELP, JSON_OUTPUT, option } from '../cli/options.ts';
import { printAnswer } from '../cli/print.ts';
import { type EvidenceJudgement, EXIT_CODES, judgementInWords } from './judgement.ts';
import { readEvidence } from './read-evidence.ts';

/** `vault verify`. */
export const verifyCommand: Command = {
  summary: 'says whether evidence of a vault is good',
  options: [
    option(
      'EVIDENCE',
      'a file: a receipt of a payment, an attestation, a credential, a token or a backup; - for standard input',
    ),
    option('--order <file>', "the order that a receipt is to pay, from the shop's own records"),
    { ...option('--node <url>', 'ask this node of the chain; given twice, both must agree'), isRepeated: true },
    option('--jwks <file>', 'the keys of the issuer of a credential, or their URL on its own host'),
    option('--audience <origin>', 'your origin: a credential that was shown to anybody else is not good'),
    option('--nonce <word>', 'your word for this showing: a credential that was shown for another is not good'),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: ['DATA_DIR', 'VAULT_SECRET', 'ATTESTATION_SIGNING_KEY', 'REGISTRAR_DID'],
  examples: [
    'vault verify receipt.json --order order.json --node https://node.example',
    'vault verify credential --jwks https://id.example/.well-known/jwt-vc-issuer',
    'vault verify address.sd-jwt --jwks keys.json --audience https://shop.example --nonce "heron 48"',
    'vault verify today.backup --config /etc/vault/vault.env',
  ],
  notes: [
    'Nothing is asked but what --node and --jwks name, and nothing is changed.',
    'Attestations and backups are authenticated by keys of VAULT_SECRET: without the settings of the vault that made them they are not decided.',
  ],
  exitCodes: '0 good, 1 not good, 2 invalid usage or an unknown file, 3 not decided with what was given',
  run: verify,
};

/** Judges a file; prints what it is, whether it is good, and why. */
async function verify(given: Arguments): Promise<number> {
  const judgement = await judge(given);
  const { audience, nonce } = given.options;
  if (judgement.kind !== 'credential' && (audience ?? nonce) !== undefined)
    throw new UsageError('--audience and --nonce go with a credential.');
  printAnswer(given, judgement, () => judgementInWords(judgement));
  return EXIT_CODES[judgement.verdict];
}

async function judge(given: Arguments): Promise<EvidenceJudgement> {
  const evidence = await readEvidence(needOption(given, 'EVIDENCE'));
  if ('backup' in evidence) return (await import('./backup.ts')).judgeBackup(given, evidence.backup);
  const value = parseJson(evidence.text);
  if (isObject(value)) {
    if ('userOpHash' in value || value['by'] === 'authorization')
      return (await import('./payment.ts')).judgePayment(given, value);
    // The whole answer of /api/verify/check holds it as a member.
    const attestation = isObject(value['attestation']) ? value['attestation'] : value;
    if ('signature' in attestation && 'registrar' in attestation)
      return (await import('./attestation.ts')).judgeAttestation(given, attestation);
  }
  // The whole answer that gave a credential holds it as a member.
  const text = isObject(value) && typeof value['credential'] === 'string' ? value['credential'] : evidence.text;
  const credential = await (await import('./credential.ts')).judgeCredentialText(given, text);
  if (credential) return credential;
  const token = await (await import('./token.ts')).judgeToken(evidence.text);
  if (token) return token;
  throw new UsageError(UNKNOWN);
}

const UNKNOWN =
  'this is nothing that vault verify knows. It takes the receipt of a payment (JSON with userOpHash, or by an authorization), an attestation ' +
  '(JSON with registrar and signature, or the answer that holds it), a credential (or that answer), a token of vault token mint, and a backup of vault backup.';
