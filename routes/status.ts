import { VERSION } from '../lib/base/version.ts';
import { rpIdOf } from '../lib/identity/ceremony.ts';
import { isReachable } from '../lib/monitoring/health.ts';
import { Status } from './answers/vault.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** The vault's state, and the chain it serves. */
export const statusRoutes = [
  get('/api/status', {
    summary: "The vault's state, and the chain it serves",
    answers: { 200: Status },
    async handler({ ctx, app }) {
      const { chainName, chainId, rpcPublicUrl } = ctx.config;
      const sha256 = await ctx.sha256Of('/enclave.wasm');
      const database = (await isReachable(ctx)) ? 'connected' : 'unavailable';
      const chain = { chain: chainName, chainId, rpc: rpcPublicUrl };
      // A start is asked this: without a file of brands there is nothing to load for it.
      const { brands, brandName, rpIds } = ctx.config;
      const brand = { name: brands === undefined ? brandName : ctx.brandOf(app).name };
      const offered = { rpId: rpIdOf(ctx.config), rpIds, brand, relays: ctx.config.registrarPrivateKey !== undefined };
      const time = Math.floor(ctx.clock.now() / 1000);
      const status = { ...chain, database, version: VERSION, time, ...offered };
      return json({ ...status, ...(sha256 ? { enclave: { sha256 } } : {}) });
    },
  }),
] as const satisfies readonly Route[];
