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
