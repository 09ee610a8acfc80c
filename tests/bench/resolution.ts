// npm run bench:resolution [-- --rounds N --ms N]: resolutions of DIDs a second, 64 at a time, on one core, with a local
// node beside it: of an account that registered, newest and at a block, and of an address that did not.
import { sendAs, ZERO } from '../support/registries.ts';
import { pkh, startDidWorld } from '../support/resolution.ts';
import { load, request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { each, interleaved } from './frame/rounds.ts';
import { startServer } from './frame/target.ts';
import { mustBeOk } from './vault-work.ts';

const options = benchOptions();
leaveServerCore();

const world = await startDidWorld();
const [account, person] = [await world.account(), await world.person()];
await account.create();
await sendAs(world.rpc, account.address, world.registry.address, world.registry.encode('registerSelf', ZERO, ''));
const block = await world.height();
await world.mine(10);
const vault = await startServer('vault', {
  ...world.vars,
  RATE_LIMIT_PROXY_PER_IP: '1000000000',
  FOLLOWER: 'false',
});

const resolving = (name: string, path: string) => ({
  name,
  run: async () => {
    const ask = () => request('GET', `/1.0/identifiers/${path}`);
    return mustBeOk(await load(vault, ask, { ms: options.ms, holds: '"id":"did:' }));
  },
});
const findings = await interleaved(
  [
    resolving('an account with a key', pkh(account.address)),
    resolving('… at a block', `${pkh(account.address)}?versionId=${block}`),
    resolving('an address that registered nothing', pkh(person.address)),
  ],
  options,
);
for (const [name, all] of findings) {
  const [rate, cpu] = [each(all, (one) => one.perSecond), each(all, (one) => one.cpuMicros)];
  console.log(
    `${name}: ${rate?.median.toFixed(0)} a second, ${((cpu?.median ?? Number.NaN) / 1000).toFixed(2)} ms of the processor`,
  );
}
await vault.stop();
await world.stop();
