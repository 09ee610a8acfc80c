import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import type { AccountKey } from '../chain/account.ts';
import type { FindCreation } from '../chain/account-creation.ts';
import type { RegistryCode } from '../chain/registry-code.ts';
import type { RegistryVersion } from '../chain/registry-version.ts';
import type { Platform } from '../platform.ts';
import type { SignedProof } from './consent.ts';
import { consentCallData } from './consent-call.ts';
import { proofInvalid } from './proof-fault.ts';
import type { RegistrationClaim } from './store.ts';

/** The parts that know the registry and the accounts' factories. */
export interface RegistryParts {
  readonly registryVersion: () => Promise<RegistryVersion>;
  readonly registryCode: RegistryCode;
  readonly findCreation: FindCreation;
}

/**
 * The whole call that registers a claim, 0x-hex; null for the first registry, whose call follows from the relay. The
 * second one demands the passkey's proof, and for an account without code also its creation. Throws 403 `proof_invalid`
 * for a proof that the registry would not read, 502 `rpc_error`.
 */
export async function relayCallData(
  ctx: Pick<Platform, 'config' | 'rpc'> & RegistryParts,
  { didHash, credentialId }: RegistrationClaim,
  proof: SignedProof,
  key: AccountKey,
): Promise<string | null> {
  const { config, rpc } = ctx;
  const { smartAccount: controller } = proof;
  const [version, code] = await Promise.all([
    ctx.registryVersion(),
    rpc.call(config.chainId, 'eth_getCode', [controller, 'latest']),
  ]);
  if (version === 1) return null;
  if (typeof code !== 'string') throw rpcError(new UpstreamError('malformed'));
  const creation = code === '0x' ? await ctx.findCreation(controller, key) : undefined;
  if (code === '0x' && creation === undefined) throw proofInvalid('account', config);
  const data = consentCallData({ controller, didHash, credentialId }, proof, creation);
  if (data === undefined) throw proofInvalid('client_data', config);
  return data;
}
