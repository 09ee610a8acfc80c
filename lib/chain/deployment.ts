/**
 * CREATE2 (EIP-1014) through the deterministic deployment proxy:
 * https://github.com/Arachnid/deterministic-deployment-proxy
 */

import * as AbiParameters from 'ox/AbiParameters';
import * as Address from 'ox/Address';
import * as ContractAddress from 'ox/ContractAddress';
import * as Hex from 'ox/Hex';
import { ZERO_WORD } from './contract-call.ts';

/** The proxy that anyone may use to deploy; at the same address on every chain that has it. */
export const DEPLOYMENT_PROXY = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/** The creation code of the contracts, 0x-hex, without constructor arguments. */
export type CreationCode = Readonly<
  Record<'AccountFactory' | 'AccountFactory2' | 'AccountHelper' | 'DIDRegistry' | 'DIDRegistry2', string>
>;

/** The contracts' constructor arguments. They are part of the code, so another value means another address. */
export interface DeploymentParties {
  /** The ERC-4337 EntryPoint that the accounts trust. */
  readonly entryPoint: Address.Address;
  /** The account that may appoint the registry's registrars. */
  readonly owner: Address.Address;
  /** The registry's first registrar, if any. */
  readonly registrar?: Address.Address | undefined;
  /** The edition of the registry; the second one by default. */
  readonly registry?: 1 | 2;
  /** The first registry that the second one follows: entries that are active there stay their controller's. */
  readonly legacyRegistry?: Address.Address | undefined;
  /** When the second one opens, in seconds: entries that the first one makes from then on do not count. */
  readonly legacyUntil?: number;
}

/** One contract of a deployment: its address, the transaction that deploys it, and the setting for its address. */
export interface PlannedContract {
  readonly name: keyof CreationCode;
  readonly setting: string;
  readonly address: Address.Address;
  readonly call: { readonly to: Address.Address; readonly data: Hex.Hex };
}

/**
 * The vault's contracts in the order of their deployment. The addresses follow from the arguments alone: the same on
 * every chain and for every sender.
 */
export function planDeployment(
  code: CreationCode,
  { entryPoint, owner, registrar = NOBODY, registry: edition = 2, ...legacy }: DeploymentParties,
): readonly [registry: PlannedContract, factory: PlannedContract, helper: PlannedContract, factory2: PlannedContract] {
  const { legacyRegistry = NOBODY, legacyUntil = 0 } = legacy;
  const planned = (name: keyof CreationCode, setting: string, ...args: (Hex.Hex | number)[]): PlannedContract => {
    const types = args.map((one) => ({ type: typeof one === 'number' ? 'uint40' : 'address' }));
    const values = AbiParameters.encode(types, args);
    return { name, setting, ...create2(Hex.concat(code[name] as Hex.Hex, values)) };
  };
  const factory = planned('AccountFactory', 'HYPERAUTH_FACTORY_ADDRESS', entryPoint);
  const registry =
    edition === 1
      ? planned('DIDRegistry', 'DID_REGISTRY_ADDRESS', owner, registrar)
      : planned('DIDRegistry2', 'DID_REGISTRY_ADDRESS', owner, registrar, factory.address, legacyRegistry, legacyUntil);
  return [
    registry,
    factory,
    planned('AccountHelper', 'ACCOUNT_HELPER_ADDRESS', registry.address),
    planned('AccountFactory2', 'ACCOUNT_FACTORY_2_ADDRESS', entryPoint),
  ];
}

/**
 * The address of creation code (constructor arguments included), and the call that deploys it; 32 bytes of salt, zero
 * by default.
 */
export function create2(code: Hex.Hex, salt: Hex.Hex = NO_SALT): Pick<PlannedContract, 'address' | 'call'> {
  const address = ContractAddress.fromCreate2({ from: DEPLOYMENT_PROXY, salt: Hex.toBytes(salt), bytecode: code });
  return { address: Address.checksum(address), call: { to: DEPLOYMENT_PROXY, data: Hex.concat(salt, code) } };
}

const NOBODY = `0x${'0'.repeat(40)}` as const;
const NO_SALT = `0x${ZERO_WORD}` as const;
