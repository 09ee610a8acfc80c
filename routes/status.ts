import { VERSION } from '../lib/base/version.ts';
import { isReachable } from '../lib/monitoring/health.ts';
import { json } from './http/answer.ts';
import { get, type Row } from './http/route.ts';

/** What the vault is and which chain it serves. */
export const statusRoutes: readonly Row[] = [
  get('/api/status', {
    async handler({ vault }) {
      const { chainName, chainId, rpcPublicUrl } = vault.config;
      const enclave = await vault.files('/enclave.wasm');
      const database = (await isReachable(vault)) ? 'connected' : 'unavailable';
      const answer = { chain: chainName, chainId, rpc: rpcPublicUrl, database, version: VERSION };
      return json({ ...answer, ...(enclave ? { enclave: { sha256: enclave.sha256 } } : {}) });
    },
  }),
];
