import { listed, OF_BUCKETS, OF_IDENTIFIERS } from './where-store.ts';

/** The tables by which somebody is limited, or let in. */
export const LIMIT_TABLES = {
  limit_notices: {
    about: 'that a limit of the identifier refused',
    kept: "the limit's window",
    erasure: 'removed',
    why: '',
    where: OF_BUCKETS,
    key: 'bucket',
  },
  invites: {
    about: 'an invite for the identifier',
    kept: 'a month after its end',
    erasure: 'removed',
    why: '',
    where: OF_IDENTIFIERS,
    key: 'id',
  },
  budget_uses: {
    about: 'how many credentials of the identifier were issued in ten minutes; other rows are of networks',
    kept: '24 hours',
    erasure: 'removed',
    why: '',
    where: `kind IN ${listed('limits')} AND bucket IN ${listed('identifiers')}`,
    key: 'kind, bucket, slot',
  },
  limit_clears: {
    about: 'that the operator freed a limit of the identifier',
    kept: '24 hours',
    erasure: 'removed',
    why: '',
    where: `kind IN ${listed('limits')} AND key IN ${listed('identifiers')}`,
    key: 'kind, key',
  },
  erasures: {
    about: 'that the identifier was erased, as a keyed digest',
    kept: 'for good',
    erasure: 'stays',
    why: 'a backup that is restored must not bring it back, and an address registers once without a proof',
    where: `digest IN ${listed('digests')}`,
    key: 'digest',
  },
} as const;
