import { Base64, Hex } from 'ox';
import { createPasskey } from '../../../../scripts/dev-stack/passkey.ts';
import { proveRegistration } from '../../../../scripts/dev-stack/passkey-proof.ts';
import { ipOf } from '../asking.ts';
import type { RelayPlace } from '../place.ts';
import { type ClientPlace, readNow } from './client.ts';

const CHAIN_ID = 84532;

/** Registers with an attestation: the vault does it, or it is recorded. */
export async function register(place: ClientPlace, identifier: string, attestation: unknown): Promise<void> {
  const { relay: relayPlace } = place.world.chain;
  if (place.draw.below(2) === 0 && relayPlace) await relay(place, relayPlace, { identifier, attestation });
  else await record(place, identifier, attestation);
}

/** Two claims at once with one attestation, of two DIDs or of one DID by two credentials: one of them gets it. */
async function record(place: ClientPlace, identifier: string, attestation: unknown): Promise<void> {
  const { world, ledger, asking, draw } = place;
  const dids = Array.from({ length: 1 + draw.below(2) }, () => `did:key:zRecorded${place.next()}x${draw.below(1e9)}`);
  const onChain = await Promise.all(
    dids.map(async (did) => ({ did, txHash: (await world.chain.register({ did })).txHash })),
  );
  const claims = [0, 1].map((i) => {
    const one = onChain[i % onChain.length] as (typeof onChain)[number];
    return { credentialId: credentialOf(`c${place.next()}`), identifier, channel: 'email', ...one, attestation };
  });
  const ip = ipOf(place.next());
  const answers = await Promise.all(claims.map((body) => asking.insist({ path: '/api/dids', ip, body })));
  const won = claims.filter((_, i) => answers[i]?.status === 200);
  ledger.checked('one attestation for two');
  if (won.length > 1) ledger.violate('no attestation is used twice', identifier);
  const isSure = answers.every((one) => one !== undefined && !one.isUnsure);
  if (won.length === 0 && isSure && !isRefusedByTime(answers))
    ledger.violate(
      'no answer is a lie',
      `${identifier}: nobody got it: ${JSON.stringify(answers.map((a) => a?.body))}`,
    );
  for (const { credentialId, did } of won) await keep(place, credentialId, { did, identifier });
}

/** The vault registers it: the same request from two devices at once is one registration. */
async function relay(
  place: ClientPlace,
  { registrar, registry, accountOf }: RelayPlace,
  { identifier, attestation }: { identifier: string; attestation: unknown },
): Promise<void> {
  const { asking, draw } = place;
  const passkey = createPasskey(undefined, Hex.fromBytes(draw.bytes(32)));
  const [pubKeyX, pubKeyY] = [Hex.fromBytes(passkey.key.x), Hex.fromBytes(passkey.key.y)];
  const smartAccount = await accountOf(BigInt(pubKeyX), BigInt(pubKeyY));
  const did = `did:pkh:eip155:${CHAIN_ID}:${smartAccount}`;
  const credentialId = credentialOf(`r${place.next()}`);
  const given = { credentialId, identifier, channel: 'email', did, smartAccount, pubKeyX, pubKeyY, attestation };
  const proof = proveRegistration(passkey, { registrar, chainId: CHAIN_ID, didRegistry: registry }, given);
  const body = { ...given, ...proof };
  const ask = () => asking.insist({ path: '/api/dids', ip: ipOf(place.next()), body });
  const answers = await Promise.all([ask(), ask()]);
  const taken = answers.filter((one) => one?.status === 200 || one?.status === 202);
  place.ledger.checked('one relay for two requests');
  if (taken.length > 0) await keep(place, credentialId, { did, identifier });
  else if (answers.every((one) => one && !one.isUnsure) && !isRefusedByTime(answers))
    place.ledger.violate('no answer is a lie', `${identifier}: ${JSON.stringify(answers.map((a) => a?.body))}`);
}

async function keep(place: ClientPlace, credentialId: string, one: { did: string; identifier: string }): Promise<void> {
  place.ledger.registrations.set(credentialId, one);
  const found = await readNow(place, `/api/dids/lookup?credentialId=${credentialId}`, ipOf(place.next()));
  if (found) place.ledger.checked('registration is known elsewhere');
  if (found && found.did !== one.did) {
    const detail = `${credentialId}: ${JSON.stringify(found)}`;
    place.ledger.violate('no process answers older than what was acknowledged', detail);
  }
}

/** An attestation or a proof that has ended while vaults were away; the same claim that is still under way. */
function isRefusedByTime(answers: readonly ({ readonly body: { readonly error?: string } } | undefined)[]): boolean {
  return answers.some((one) => /expired|rate_limited|invalid|used/.test(one?.body.error ?? ''));
}

function credentialOf(name: string): string {
  return Base64.fromBytes(new TextEncoder().encode(name.padEnd(16, '.')), { url: true, pad: false });
}
