import type { Config } from '../../lib/config/config.ts';
import { createKeys, type Keys } from '../../lib/identity/keys.ts';
import type { Arguments } from '../cli/arguments.ts';
import { checkSettings, previewSettings } from '../setup/settings.ts';

/** The settings and the keys of the vault that is here; undefined where there is none. Throws for unusable settings. */
export function vaultKeys(given: Arguments): { readonly config: Config; readonly keys: Keys } | undefined {
  const { settings, unkept } = previewSettings(given);
  if (unkept.includes('VAULT_SECRET')) return undefined;
  const config = checkSettings(settings);
  return { config, keys: createKeys(config.vaultSecret, config.attestationSigningKey) };
}
