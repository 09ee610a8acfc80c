import type { Call } from './call.ts';
import { fault } from './error.ts';
import type { Contracts, Status } from './wire.ts';

/** The vault's state and contracts. They are read once, and again after a failure. */
export type VaultInfo = () => Promise<{ readonly status: Status; readonly contracts: Contracts }>;

/** Asks at the first call. */
export function createVaultInfo(call: Call): VaultInfo {
  let asked: ReturnType<VaultInfo> | undefined;
  return () => {
    asked ??= Promise.all([call('GET /api/status'), call('GET /api/contracts')]).then(([status, contracts]) => {
      // A passkey keeps its RP ID for good, so none is guessed.
      if (!status.rpId || !status.brand) throw fault('vault_too_old');
      return { status, contracts };
    });
    asked.catch(() => {
      asked = undefined;
    });
    return asked;
  };
}
