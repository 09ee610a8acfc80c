import type * as Address from 'ox/Address';
import type { DeploymentParties, PlannedContract } from '../../lib/chain/deployment.ts';
import type { Node } from './deployer.ts';

/** The parties of the deployment, and what the settings have of the registries. */
interface Settings {
  readonly configured: Address.Address | null;
  readonly parties: DeploymentParties;
  readonly legacyUntil: number | undefined;
}

/**
 * The first registry that a second one follows, and when that one opens: the configured one and a day from now, or what
 * a configured second one says, so that the same command finds what it has deployed. Throws an `Error` for an address
 * without a contract: each registration asks it, and would fail for good.
 */
export async function findLegacy(
  node: Node,
  { configured, parties, legacyUntil: given }: Settings,
): Promise<Pick<DeploymentParties, 'legacyRegistry' | 'legacyUntil'>> {
  if (parties.registry === 1) return {};
  const known = configured !== null && (await node.hasCode(configured)) ? configured : undefined;
  const followed = known && (await node.followedBy(known));
  const legacyRegistry = parties.legacyRegistry ?? followed?.registry ?? known;
  if (legacyRegistry === undefined || BigInt(legacyRegistry) === 0n) return {};
  if (!(await node.hasCode(legacyRegistry)))
    throw new Error(
      `there is no contract at ${legacyRegistry}, the first registry that this one would follow: it could register nothing but own did:pkh. Name the one of this chain by --legacy-registry, or none by --legacy-registry 0x${'0'.repeat(40)}`,
    );
  const isSame = followed?.registry.toLowerCase() === legacyRegistry.toLowerCase();
  const legacyUntil = given ?? (isSame ? followed?.until : undefined) ?? (await node.time()) + LEGACY_SECONDS;
  return { legacyRegistry, legacyUntil };
}

/** How long the first registry goes on: enough to set the new address everywhere. */
const LEGACY_SECONDS = 86_400;

/** Refuses a time that is over: a stranger could have taken in between what the first registry gave out. */
export async function checkLegacyUntil(
  node: Node,
  legacyUntil: number | undefined,
  registry: PlannedContract,
): Promise<void> {
  if (legacyUntil === undefined || (await node.hasCode(registry.address)) || legacyUntil > (await node.time())) return;
  throw new Error(
    `REGISTRY_LEGACY_UNTIL ${legacyUntil} is over, and no registry with it was deployed before: unset it, and the command chooses another time`,
  );
}
