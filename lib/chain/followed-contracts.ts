import type { Config } from '../config/config.ts';

/** The settings that name the contracts whose events are followed. */
export type FollowedContracts = Pick<
  Config,
  'chainId' | 'didRegistryAddress' | 'hyperauthFactoryAddress' | 'accountFactory2Address'
>;

/** The addresses of the followed contracts, in lower case. */
export function contractsOf(config: FollowedContracts): readonly string[] {
  const { didRegistryAddress, hyperauthFactoryAddress, accountFactory2Address } = config;
  const all = [didRegistryAddress, hyperauthFactoryAddress, accountFactory2Address];
  return all.flatMap((one) => (one ? [one.toLowerCase()] : []));
}

/** The chain and contracts that stored events belong to, as the follower's row names them. */
export function sourceOf(config: FollowedContracts): string {
  return [config.chainId, ...contractsOf(config)].join(' ');
}

/** The first topics of the registries' and factories' events: keccak256 of their signatures (`contracts/abi.ts`). */
export const TOPICS = {
  DIDRegistered: '0x3d34a9edac1831cc11a06bc2728e2d1c6542a5d8a4dff2ae70720a4f8bbab31b',
  AliasRegistered: '0xf2300ac74877b80894bcff5054b5f6a878a22d38b5693e287fa09e696ad39211',
  DIDUpdated: '0xf6d9d269aff3ef8d7ee369cdb4e3c871f01275acf1ed09bc93ee73fd5a5f64a4',
  DIDDeactivated: '0x404dc1dccead5da2c213f41d3918422c627160231296d3f7f50339c881d24fd9',
  DIDMoved: '0x6f2fd6934508b6f5e6b657bb94447e1fa939936d90eb1d95bb1c0f2c054333a1',
  AliasFreed: '0x569a90c50b3af8554b310cc3e2cceb3dbf454673d56187e8d931580ae8c761f4',
  AccountCreated: '0xac631f3001b55ea1509cf3d7e74898f85392a61a76e8149181ae1259622dabc8',
} as const;

/** The first topics of the events that accounts of the second kind emit when a key is added or removed. */
export const KEY_TOPICS = {
  KeyAdded: '0x69ba43af323f3a69fd3f28658c568065ae6fe9f20bf2f5d0ef8603259a392082',
  KeyRemoved: '0x9121d9d69abaa032ca71ab2e1381e05aaa269cee7b2da7aecdeb9bb04eb940b7',
} as const;
