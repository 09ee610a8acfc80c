import * as parse from './parsers.ts';
import * as secrets from './secret-parsers.ts';
import { derived, endpoint, plain, secret } from './setting.ts';
import * as url from './url-parsers.ts';

/** The bucket of `vault backup --to s3://…`. */
export const BACKUP_SETTINGS = {
  BACKUP_S3_REGION: plain(
    'region of the bucket that backups go to',
    parse.matching(/^[a-z0-9-]{1,40}$/, 'must be a region such as eu-central-1'),
    'us-east-1',
  ),
  BACKUP_S3_ENDPOINT: endpoint(
    'base URL of the S3-compatible service whose bucket backups go to',
    url.ownOrHttpsUrl,
    derived("Amazon's of the region", ({ BACKUP_S3_REGION = '' }) => `https://s3.${BACKUP_S3_REGION}.amazonaws.com`),
    { example: 'https://s3.eu-central-1.amazonaws.com' },
  ),
  BACKUP_S3_ACCESS_KEY_ID: secret('id of the key that may read and write the bucket', parse.unsetOr(secrets.token(1))),
  BACKUP_S3_SECRET_ACCESS_KEY: secret('the key itself', parse.unsetOr(secrets.token(1))),
};
