"""Reads records as JSON lines from stdin and writes them as nxv's database (schema 4): python3 write-nxv-database.py FILE

nxv keeps one row a (path, version), so a second range of a version is left out. Indexes and the full-text table are those
that nxv makes itself, built after the rows because that is faster.
"""

import json
import sqlite3
import sys

TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE package_versions (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,
  first_commit_hash TEXT NOT NULL, first_commit_date INTEGER NOT NULL,
  last_commit_hash TEXT NOT NULL, last_commit_date INTEGER NOT NULL,
  attribute_path TEXT NOT NULL, description TEXT, license TEXT, homepage TEXT, maintainers TEXT, platforms TEXT,
  source_path TEXT, known_vulnerabilities TEXT,
  UNIQUE(attribute_path, version), CHECK(first_commit_date <= last_commit_date)
);
CREATE TABLE package_attrs (attribute_path TEXT PRIMARY KEY, attribute_path_lc TEXT) WITHOUT ROWID;
CREATE TABLE releases (
  id INTEGER PRIMARY KEY, channel TEXT NOT NULL, release_name TEXT NOT NULL, commit_hash TEXT NOT NULL,
  commit_count INTEGER, release_date INTEGER NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT 0, last_attempt_at INTEGER, attr_count INTEGER, error TEXT, ingested_at INTEGER,
  UNIQUE(channel, release_name)
);
"""

INDEXES = """
CREATE INDEX idx_releases_status ON releases(status, release_date);
CREATE INDEX idx_releases_channel_date ON releases(channel, release_date DESC);
CREATE INDEX idx_packages_name ON package_versions(name);
CREATE INDEX idx_packages_name_version ON package_versions(name, version, first_commit_date);
CREATE INDEX idx_packages_attr ON package_versions(attribute_path);
CREATE INDEX idx_packages_first_date ON package_versions(first_commit_date DESC);
CREATE INDEX idx_packages_last_date ON package_versions(last_commit_date DESC);
CREATE INDEX idx_packages_search_nocase ON package_versions(
  attribute_path COLLATE NOCASE, version COLLATE NOCASE,
  (LENGTH(attribute_path) - LENGTH(REPLACE(attribute_path, '.', ''))), last_commit_date DESC, first_commit_date DESC
);
CREATE INDEX idx_version_vulnerabilities ON package_versions(version)
  WHERE known_vulnerabilities IS NOT NULL AND known_vulnerabilities != ''
    AND known_vulnerabilities != '[]' AND known_vulnerabilities != 'null';
INSERT INTO package_attrs SELECT DISTINCT attribute_path, lower(attribute_path) FROM package_versions;
CREATE INDEX idx_package_attrs_lc ON package_attrs(attribute_path_lc, attribute_path);
CREATE VIRTUAL TABLE package_versions_fts USING fts5(name, description, content=package_versions, content_rowid=id);
INSERT INTO package_versions_fts(package_versions_fts) VALUES ('rebuild');
"""


def as_json(value):
    return None if value is None else json.dumps(value)


def rows():
    for line in sys.stdin:
        r = json.loads(line)
        yield (
            r["name"], r["version"], r["firstCommitHash"], r["firstCommitDate"], r["lastCommitHash"], r["lastCommitDate"],
            r["attributePath"], r["description"], as_json(r["license"] and [r["license"]]), r["homepage"],
            as_json(r["maintainers"]), as_json(r["platforms"]), r["sourcePath"], as_json(r["knownVulnerabilities"]),
        )


def main(path):
    database = sqlite3.connect(path)
    database.executescript(TABLES)
    database.executemany("INSERT OR IGNORE INTO package_versions VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", rows())
    database.executescript(INDEXES)
    commit, date = database.execute(
        "SELECT last_commit_hash, last_commit_date FROM package_versions ORDER BY last_commit_date DESC LIMIT 1"
    ).fetchone()
    meta = {"schema_version": "4", "last_indexed_commit": commit, "last_indexed_date": str(date)}
    database.executemany("INSERT INTO meta VALUES (?,?)", meta.items())
    database.commit()
    database.execute("ANALYZE")
    database.commit()
    print(database.execute("SELECT COUNT(*) FROM package_versions").fetchone()[0])


main(sys.argv[1])
