// People with accounts of the second kind, whose keys come and go.
import { expect } from 'bun:test';
import { type Address, Base64 } from 'ox';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { registerData, type TestChain } from './onchain.ts';
import { createPasskey, type Passkey } from './passkey.ts';
import { callAs, createSecond } from './second-account.ts';
import { APPS_VARS, appRequest, authorize, exchange, signFor } from './sign-ups.ts';
import type { TestVault } from './vault.ts';

const REGISTRAR_DID = 'did:web:registrar.example';
/** Longer than the pause between two looks at a registration. */
const PAUSE = 30_000;

let devices = 0;

/** A passkey of its own. */
export const newDevice = () => ({
  passkey: createPasskey(),
  credentialId: Base64.fromBytes(new TextEncoder().encode(`key ${++devices}`.padEnd(16, '.')), {
    url: true,
    pad: false,
  }),
});
export type Device = ReturnType<typeof newDevice>;

export interface Owner extends Device {
  readonly account: Address.Address;
  readonly did: string;
  readonly email: string;
  /** The transaction that registered the DID. */
  readonly txHash: string;
}

/** Owners on a chain, and the settings of their vault; `vault` and `codeFor` say where they are. */
export async function createKeyOwners(
  chain: TestChain,
  vault: () => TestVault,
  codeFor = (to: string) => vault().codeFor(to),
) {
  const contracts: Deployment = await deployContracts(chain.rpc);
  const look = async () => {
    await vault().clock.advance(PAUSE);
    await vault().work();
  };
  /** Registers an address for a DID by a passkey; the chain has the DID already. */
  const claim = async (
    { passkey, credentialId }: Device,
    { account, did, txHash }: Pick<Owner, 'account' | 'did' | 'txHash'>,
    email: string,
  ) => {
    const t = vault();
    await t.call('POST /api/verify/send', { identifier: email, channel: 'email' });
    const code = codeFor(email);
    const checked = await t.call('POST /api/verify/check', { identifier: email, channel: 'email', code });
    const { attestation } = checked.body;
    const request = { credentialId, identifier: email, channel: 'email', did, attestation };
    const at = { registrar: REGISTRAR_DID, chainId: 84532, didRegistry: chain.registry };
    const proof = proveRegistration(passkey, at, { ...request, smartAccount: account }, { now: t.clock.now() });
    expect((await t.call('POST /api/dids', { ...request, txHash, ...proof })).status).toBe(200);
    await look();
  };
  return {
    contracts,
    look,
    claim,
    vars: {
      ...chain.vars,
      ...APPS_VARS,
      HYPERAUTH_FACTORY_ADDRESS: contracts.accountFactory,
      ACCOUNT_FACTORY_2_ADDRESS: contracts.accountFactory2,
      ACCOUNT_HELPER_ADDRESS: contracts.accountHelper,
      REGISTRAR_DID,
      REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
      MAX_REGISTRATIONS_PER_IP: '1000',
    },
    /** Somebody with an account of the second kind, whose DID and address are registered, final and proven. */
    async newOwner(): Promise<Owner> {
      const first = newDevice();
      const account = await createSecond(chain.rpc, contracts, first.passkey.key);
      const did = `did:pkh:eip155:84532:${account}`;
      const txHash = await callAs(chain.rpc, account, chain.registry, registerData({ did }));
      const owner = { ...first, account, did, txHash, email: `owner${devices}@example.com` };
      await claim(owner, owner, owner.email);
      return owner;
    },
    /** Who it was for the app, or the refusal. */
    async signedIn(device: Device, account?: string, by: Passkey = device.passkey, request = appRequest()) {
      const t = vault();
      const { credentialId } = device;
      const evidence = {
        credentialId,
        ...(account ? { smartAccount: account } : {}),
        ...(await signFor(t, { passkey: by }, request)),
      };
      const { status, body } = await authorize(t, request, evidence);
      if (status !== 200) return [body.error, body.reason].filter(Boolean).join(' ');
      return (await exchange(t, request, body.code)).body;
    },
  };
}
