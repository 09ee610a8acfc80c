import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AbiFunction, type Address, Hex } from 'ox';
import { accountFactoryAbi, accountHelperAbi, didRegistry2Abi } from '../../../contracts/abi.ts';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import { DEPLOYMENT_PROXY, planDeployment } from '../../../lib/chain/deployment.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../../scripts/dev-stack/create2.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { timeNow } from '../../support/registries.ts';
import { runProgram, VAULT } from '../../support/run.ts';

const { privateKey, address: deployer } = devAccount('alice');
const entryPoint = ENTRY_POINTS['0.7'];
const PLAN = planDeployment(creationCode, { entryPoint, owner: deployer });
const SETTINGS = `CHAIN_ID=84532
ENTRY_POINT_ADDRESS=${entryPoint}
DID_REGISTRY_ADDRESS=${PLAN[0].address}
HYPERAUTH_FACTORY_ADDRESS=${PLAN[1].address}
ACCOUNT_HELPER_ADDRESS=${PLAN[2].address}
ACCOUNT_FACTORY_2_ADDRESS=${PLAN[3].address}
`;

const chain = await startChain();
await deployEntryPoints(chain.rpc, ['0.7']);
afterAll(chain.stop);

let folder: ReturnType<typeof temporaryFolder>;
let fresh: unknown;
beforeEach(async () => {
  folder = temporaryFolder();
  fresh = await chain.rpc('evm_snapshot');
});
afterEach(async () => {
  // What a test left unmined is no part of the snapshot.
  await chain.rpc('anvil_dropAllTransactions');
  await chain.rpc('evm_revert', [fresh]);
  folder.remove();
});

/** `vault contracts deploy` on the chain, paid by alice. */
function deploy(args: readonly string[] = [], vars: Readonly<Record<string, string>> = {}, { url }: Chain = chain) {
  const all = { RPC_URL: url, DEPLOYER_PRIVATE_KEY: privateKey, ...vars };
  return runProgram(['contracts', 'deploy', ...args], { cwd: folder.path, vars: all });
}

/** The first registry, as `vault contracts deploy --registry 1` sends it. Answers its address. */
async function deployFirst(): Promise<Address.Address> {
  const [{ address, call }] = planDeployment(creationCode, { entryPoint, owner: deployer, registry: 1 });
  await sendTransaction(chain.rpc, privateKey, call);
  return address;
}

async function nonce(): Promise<number> {
  return Number(await chain.rpc('eth_getTransactionCount', [deployer, 'latest']));
}

function deployed(): Promise<boolean[]> {
  return Promise.all(PLAN.map(({ address }) => isDeployed(chain.rpc, address)));
}

async function read(to: string, item: AbiFunction.AbiFunction, args: readonly unknown[] = []): Promise<unknown> {
  const data = AbiFunction.encodeData(item, args as never);
  return AbiFunction.decodeResult(item, (await chain.rpc('eth_call', [{ to, data }, 'latest'])) as Hex.Hex);
}

describe('vault contracts deploy', () => {
  test('deploys the contracts, says each step and ends with the settings to use', async () => {
    const { code, out, err } = await deploy();
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Base Sepolia (84532)');
    expect(out).toContain(`owner ${deployer}`);
    for (const { name, address } of PLAN) expect(out).toContain(`${name} is at ${address}, transaction 0x`);
    expect(out).toEndWith(`Settings for a vault on this chain:\n${SETTINGS}`);
    const [registry, factory, helper] = PLAN;
    expect(await read(registry.address, AbiFunction.fromAbi(didRegistry2Abi, 'owner'))).toBe(deployer);
    expect(await read(helper.address, AbiFunction.fromAbi(accountHelperAbi, 'registry'))).toBe(registry.address);
    const predicted = await read(factory.address, AbiFunction.fromAbi(accountFactoryAbi, 'getAddress'), [1n, 2n, 3n]);
    const state = AbiFunction.fromAbi(accountHelperAbi, 'getAccountState');
    expect(await read(helper.address, state, [predicted])).toEqual([0n, Hex.padLeft('0x', 32), false, [0n, 0n]]);
  });

  test('a second run finds everything there and sends nothing', async () => {
    await deploy();
    const before = await nonce();
    const { code, out } = await deploy();
    expect(code).toBe(0);
    expect(out.match(/already deployed/g)).toHaveLength(4);
    expect(out).toEndWith(SETTINGS);
    expect(await nonce()).toBe(before);
  });

  test('goes on where an earlier run was stopped', async () => {
    await sendTransaction(chain.rpc, privateKey, PLAN[0].call);
    const { code, out } = await deploy();
    expect(code).toBe(0);
    expect(out).toMatch(/DIDRegistry2 +0x\w{40} +already deployed/);
    expect(await deployed()).toEqual([true, true, true, true]);
    expect(await nonce()).toBe(4);
  });

  test('waits for what an earlier run has sent and is not mined yet', async () => {
    await chain.rpc('evm_setAutomine', [false]);
    const { to, data } = PLAN[0].call;
    await chain.rpc('eth_sendTransaction', [{ from: deployer, to, data, gas: '0x4c4b40' }]);
    const child = Bun.spawn([...VAULT, 'contracts', 'deploy'], {
      cwd: folder.path,
      env: { RPC_URL: chain.url, DEPLOYER_PRIVATE_KEY: privateKey },
      stdout: 'pipe',
    });
    let out = '';
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      out += chunk;
      if (!out.endsWith(`Waiting for transactions of ${deployer} …\n`)) continue;
      await chain.rpc('evm_setAutomine', [true]);
      await chain.rpc('evm_mine');
    }
    expect(await child.exited).toBe(0);
    expect(out).toMatch(/DIDRegistry2 +0x\w{40} +already deployed/);
    expect(await nonce()).toBe(4);
  });

  test('with --dry-run says what it would do and does nothing, also without a key', async () => {
    for (const [args, vars] of [
      [['--dry-run'], {}],
      [['--dry-run', '--owner', deployer], { DEPLOYER_PRIVATE_KEY: '' }],
    ] as const) {
      const { code, out } = await deploy(args, vars);
      expect(code).toBe(0);
      expect(out).toMatch(/AccountFactory +0x\w{40} +missing, \d{7} gas/);
      expect(out).toMatch(/This costs at most 0\.0\d+ ether/);
      expect(out).toEndWith(SETTINGS);
    }
    expect(await deployed()).toEqual([false, false, false, false]);
    expect(await nonce()).toBe(0);
  });

  test('with --json answers one object', async () => {
    const { code, out } = await deploy(['--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      chainId: 84532,
      payer: deployer,
      owner: deployer,
      registrar: null,
      entryPoint,
      legacyRegistry: null,
      legacyUntil: null,
      contracts: PLAN.map(({ name, address }) => ({
        name,
        address,
        state: 'deployed',
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      })),
      settings: Object.fromEntries(
        SETTINGS.trimEnd()
          .split('\n')
          .map((line) => line.split('=')),
      ),
    });
  });

  test('takes owner and registrar from its flags, the registrar else from its key', async () => {
    const [owner, registrar] = [devAccount('owner').address, devAccount('registrar')];
    const first = await deploy(['--dry-run', '--json', '--owner', owner.toLowerCase()], {
      REGISTRAR_PRIVATE_KEY: registrar.privateKey,
    });
    expect(JSON.parse(first.out)).toMatchObject({ payer: deployer, owner, registrar: registrar.address });
    const second = await deploy(['--dry-run', '--json', '--registrar', owner]);
    expect(JSON.parse(second.out)).toMatchObject({ owner: deployer, registrar: owner });
    const [planned] = planDeployment(creationCode, { entryPoint, owner, registrar: registrar.address });
    expect(JSON.parse(first.out).settings.DID_REGISTRY_ADDRESS).toBe(planned.address);
  });

  test('with --registry 1 deploys the first registry', async () => {
    const { code, out } = await deploy(['--registry', '1']);
    const [first] = planDeployment(creationCode, { entryPoint, owner: deployer, registry: 1 });
    expect([code, await isDeployed(chain.rpc, first.address)]).toEqual([0, true]);
    expect(out).toContain(`DID_REGISTRY_ADDRESS=${first.address}\n`);
    expect(out).not.toContain('first registry that is followed');
  });

  test('a second registry follows the first one that is configured, also in a second run with the new settings', async () => {
    const first = await deployFirst();
    const from = Number(await timeNow(chain.rpc)) + 86_400;
    const { code, out } = await deploy([], { DID_REGISTRY_ADDRESS: first });
    const legacyUntil = Number(/^REGISTRY_LEGACY_UNTIL=(\d+)$/m.exec(out)?.[1]);
    expect([0, 1, 2, 3]).toContain(legacyUntil - from);
    const parties = { entryPoint, owner: deployer, legacyRegistry: first, legacyUntil };
    const [{ address: second }] = planDeployment(creationCode, parties);
    expect(code).toBe(0);
    expect(out).toContain(`first registry that is followed ${first}`);
    expect(out).toContain(`DID_REGISTRY_ADDRESS=${second}\n`);
    // Before anything is sent, so that a run that is stopped can go on.
    expect(out.indexOf(`set REGISTRY_LEGACY_UNTIL=${legacyUntil}`)).toBeLessThan(out.indexOf('Deploying'));
    expect(await read(second, AbiFunction.fromAbi(didRegistry2Abi, 'legacyRegistry'))).toBe(first);
    expect(await read(second, AbiFunction.fromAbi(didRegistry2Abi, 'legacyUntil'))).toBe(legacyUntil);
    const sent = await nonce();
    const given = { REGISTRY_LEGACY_UNTIL: `${legacyUntil}` };
    for (const [args, vars] of [
      [[], { DID_REGISTRY_ADDRESS: second }],
      [[], { DID_REGISTRY_ADDRESS: first, ...given }],
      [['--legacy-registry', first], given],
    ] as const) {
      const again = await deploy(['--json', ...args], vars);
      const settings = { DID_REGISTRY_ADDRESS: second, ...given };
      expect(JSON.parse(again.out)).toMatchObject({ legacyRegistry: first, legacyUntil, settings });
    }
    expect(await nonce()).toBe(sent);
  });

  test('takes a second registry that a stranger has sent, and deploys none whose time is over (H2)', async () => {
    const first = await deployFirst();
    const legacyUntil = Number(await timeNow(chain.rpc)) + 86_400;
    const plan = planDeployment(creationCode, { entryPoint, owner: deployer, legacyRegistry: first, legacyUntil });
    await sendTransaction(chain.rpc, devAccount('bob').privateKey, plan[0].call);
    const vars = { DID_REGISTRY_ADDRESS: first, REGISTRY_LEGACY_UNTIL: `${legacyUntil}` };
    const taken = await deploy([], vars);
    expect(taken.out).toMatch(/DIDRegistry2 +0x\w{40} +already deployed/);
    expect(taken.out).toContain(`DID_REGISTRY_ADDRESS=${plan[0].address}\n`);
    const over = await deploy([], { ...vars, REGISTRY_LEGACY_UNTIL: `${legacyUntil - 86_401}` });
    expect([over.code, over.err]).toEqual([1, expect.stringContaining('is over, and no registry with it was')]);
  });

  test('deploys no registry that follows an address without a contract', async () => {
    const { code, out, err } = await deploy(['--legacy-registry', devAccount('bob').address]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`there is no contract at ${devAccount('bob').address}`);
    expect(await nonce()).toBe(0);
  });

  test('deploys for a chain that nothing is known of', async () => {
    const unknown = await startChain({ chainId: 31337 });
    await deployEntryPoints(unknown.rpc, ['0.7']);
    const vars = { CHAIN_ID: '31337', REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
    const { code, out } = await deploy([], vars, unknown).finally(unknown.stop);
    expect(code).toBe(0);
    expect(out).toContain(`CHAIN_ID=31337\nENTRY_POINT_ADDRESS=${entryPoint}\n`);
  });

  test('takes the key from a file or the environment, never from a flag, and never shows it', async () => {
    const file = join(folder.path, 'deployer.key');
    writeFileSync(file, `${privateKey}\n`, { mode: 0o600 });
    const vars = { DEPLOYER_PRIVATE_KEY: '', DEPLOYER_PRIVATE_KEY_FILE: file };
    const { code, out, err } = await deploy([], vars);
    expect(code).toBe(0);
    expect(out + err).not.toContain(privateKey.slice(2));
    const flag = await deploy(['--deployer-private-key', privateKey]);
    expect(flag).toMatchObject({ code: 2, out: '' });
    expect(flag.err).not.toContain(privateKey.slice(2));
  });
});

describe('vault contracts deploy refuses', () => {
  test.each<[string, readonly string[], Readonly<Record<string, string>>, number, RegExp]>([
    ['to start without a key', [], { DEPLOYER_PRIVATE_KEY: '' }, 2, /Set DEPLOYER_PRIVATE_KEY to the key/],
    ['a key that is none', [], { DEPLOYER_PRIVATE_KEY: '0x12' }, 2, /DEPLOYER_PRIVATE_KEY must be a secp256k1/],
    ['another chain than the one named', [], { CHAIN_ID: '8453' }, 2, /chain 84532, but CHAIN_ID is 8453/],
    ['an edition that there is not', ['--registry', '3'], {}, 2, /--registry must be 1 or 2/],
    ['an owner that is no address', ['--owner', '0x12'], {}, 2, /--owner must be an address/],
    ['an endpoint that is not there', [], { RPC_URL: 'http://127.0.0.1:1/secret-key' }, 1, /RPC_URL: unreachable/],
  ])('%s', async (_, args, vars, code, message) => {
    const { code: ended, out, err } = await deploy(args, vars);
    expect([ended, out]).toEqual([code, '']);
    expect(err).toMatch(message);
    expect(err).not.toContain('secret-key');
    expect(await deployed()).toEqual([false, false, false, false]);
  });

  test('a chain without the deployment proxy, or without the EntryPoint', async () => {
    for (const [gone, message] of [
      [entryPoint, `has no EntryPoint at ${entryPoint}`],
      [DEPLOYMENT_PROXY, `has no deployment proxy at ${DEPLOYMENT_PROXY}`],
    ] as const) {
      await chain.rpc('anvil_setCode', [gone, '0x']);
      expect(await deploy()).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
    }
  });

  test('an account that cannot pay for all of it, before anything is sent', async () => {
    await chain.rpc('anvil_setBalance', [deployer, '0x38d7ea4c68000']);
    const { code, err } = await deploy();
    expect(code).toBe(1);
    expect(err).toMatch(/not enough ether\. This costs at most 0\.0\d+ ether.*has 0\.001\.\n$/);
    expect(await nonce()).toBe(0);
  });
});
