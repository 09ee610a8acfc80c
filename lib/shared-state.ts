import { type AliasFacts, createAliasFacts } from './aliases/aliases.ts';
import { SEARCH_RANGE_BLOCKS_MAX } from './chain/entry-point.ts';
import { type BlockRange, createBlockRange } from './chain/log-range.ts';
import { createFactoryFacts, type FactoryFacts } from './chain/own-factory.ts';
import { createRegistryCodeFacts, type RegistryCodeFacts } from './chain/registry-code.ts';
import { createRegistryFacts, type RegistryFacts } from './chain/registry-version.ts';
import { createWitnessFacts, type WitnessFacts } from './chain/witness.ts';
import type { Config } from './config/config.ts';
import type { Damage } from './db/database.ts';
import type { Outages, Schema } from './db/store.ts';
import { createDoctorFacts, type DoctorFacts } from './doctor/service.ts';
import { createNotices, type Notices } from './limits/limit-events.ts';
import { createMinutes, type MinuteState } from './monitoring/minutes.ts';
import { createOpenIdFacts, type OpenIdFacts } from './openid/parts.ts';
import { createKeyNotes, type KeyNotes } from './registration/look-notes.ts';
import { createSchedule, type RelaySchedule } from './relay/relay.ts';
import type { RelayRole } from './relay/requests.ts';
import { createResolutionFacts, type ResolutionFacts } from './resolution/versions.ts';
import { createStrangersChecks, type StrangersChecks } from './verification/find-code.ts';
import { createIssuerFacts, type IssuerFacts } from './verification/token-issuer.ts';

/** In-memory state that is shared over isolated requests. */
export interface Shared {
  /** Known facts about the database. */
  readonly known: { readonly schema: Schema; readonly outages: Outages; readonly damage: Damage };
  /** Known facts about the account factory. */
  readonly factoryFacts: FactoryFacts;
  /** Known facts about the second node. */
  readonly witnessFacts: WitnessFacts;
  /** Known facts about the registry. */
  readonly registryFacts: RegistryFacts;
  readonly registryCodeFacts: RegistryCodeFacts;
  /** The node's answers about aliases. */
  readonly aliasFacts: AliasFacts;
  /** How many blocks the node is asked for at once where an operation is looked for. */
  readonly searchRange: BlockRange;
  /** When the outbox of each key checks the chain next. */
  readonly schedules: Readonly<Record<RelayRole, RelaySchedule>>;
  /** Accounts whose keys are looked at soon. */
  readonly keyNotes: KeyNotes;
  /** How many event streams are open. */
  readonly open: { streams: number };
  /** Which refusals have their event already. */
  readonly notices: Notices;
  /** The counters of this process that are written for the charts already. */
  readonly minutes: MinuteState;
  /** How many checks of strangers were answered, by code. */
  readonly strangers: StrangersChecks;
  /** The issuers of email tokens. */
  readonly issuerFacts: IssuerFacts;
  /** The OpenID Provider's memory. */
  readonly openId: OpenIdFacts;
  /** Headers of final blocks. */
  readonly resolutionFacts: ResolutionFacts;
  /** The doctor's last findings. */
  readonly doctor: DoctorFacts;
}

/** A state without any facts yet, except that the tables may be up to date, and the damage that the host knows. */
export function createShared(config: Config, isCurrent: boolean, damage: Damage = {}): Shared {
  return {
    known: { schema: { isCurrent }, outages: new Set(), damage },
    factoryFacts: createFactoryFacts(config),
    witnessFacts: createWitnessFacts(),
    registryFacts: createRegistryFacts(),
    registryCodeFacts: createRegistryCodeFacts(),
    aliasFacts: createAliasFacts(),
    searchRange: createBlockRange(SEARCH_RANGE_BLOCKS_MAX),
    schedules: { registrar: createSchedule(), guardian: createSchedule() },
    keyNotes: createKeyNotes(),
    open: { streams: 0 },
    notices: createNotices(),
    minutes: createMinutes(),
    strangers: createStrangersChecks(),
    issuerFacts: createIssuerFacts(),
    openId: createOpenIdFacts(),
    resolutionFacts: createResolutionFacts(),
    doctor: createDoctorFacts(),
  };
}
