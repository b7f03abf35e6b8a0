package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"posixgateway.io/csi/internal/attributes"
)

// secretOf names a user; "" is no secret.
func secretOf(user string) map[string]string {
	if user == "" {
		return nil
	}
	return map[string]string{attributes.SecretUser: user}
}

func stageAs(t *testing.T, n *Node, user string) error {
	t.Helper()
	request := stageRequest()
	request.Secrets = secretOf(user)
	_, err := n.NodeStageVolume(t.Context(), request)
	return err
}

func publishAs(t *testing.T, n *Node, user string) error {
	t.Helper()
	request := publishRequest()
	request.Secrets = secretOf(user)
	_, err := n.NodePublishVolume(t.Context(), request)
	return err
}

func servedAs(m *machine) string { return m.serving["v"].GetCluster().GetUser() }

func TestAPodWhoseSecretNamesAnotherUserThanTheStagingIsRefused(t *testing.T) {
	for what, c := range map[string]struct{ staged, published, advice string }{
		"only the publish has a secret": {"", "alice", "without a secret"},
		"they name different users":     {"bob", "alice", "to the same secret"},
	} {
		t.Run(what, func(t *testing.T) {
			m := newMachine()
			parts := m.parts(t)
			n := nodeWith(t, parts)
			if err := stageAs(t, n, c.staged); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the record tells the next driver, too
				err := publishAs(t, n, c.published)
				wantCode(t, err, codes.FailedPrecondition)
				if !strings.Contains(err.Error(), "nodeStageSecretRef") || !strings.Contains(err.Error(), c.advice) {
					t.Error("no advice:", err)
				}
				if _, shown := m.table.At(target); shown || servedAs(m) != c.staged {
					t.Fatal(m.table, m.serving)
				}
				n = nodeWith(t, parts)
			}
			text, err := os.ReadFile(filepath.Join(parts.StateDir, "volumes", "v.json"))
			if err != nil || strings.Contains(string(text), "bob") || strings.Contains(string(text), "alice") {
				t.Fatal("the record names a user:", string(text), err)
			}
		})
	}
}

func TestAUserIsTheSameHoweverTheSecretNamesIt(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	if err := stageAs(t, n, "alice"); err != nil {
		t.Fatal(err)
	}
	request := publishRequest()
	request.Secrets = map[string]string{"alluxio.security.login.username": "alice"}
	if _, err := n.NodePublishVolume(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	request.Secrets["alluxio.security.login.impersonation.username"] = "bob"
	request.TargetPath = second
	_, err := n.NodePublishVolume(t.Context(), request)
	wantCode(t, err, codes.FailedPrecondition)
}

func TestAVolumeThatNoPodHasIsStagedAnewForAnotherUser(t *testing.T) {
	for _, users := range [][2]string{{"alice", "bob"}, {"", "bob"}, {"alice", ""}} {
		m := newMachine()
		n := newNode(t, m)
		for _, user := range users {
			if err := stageAs(t, n, user); err != nil || servedAs(m) != user || len(m.table) != 1 {
				t.Fatal(users, err, m.serving, m.table)
			}
		}
		if err := publishAs(t, n, users[1]); err != nil {
			t.Fatal(users, err)
		}
		wantCode(t, stageAs(t, n, users[0]), codes.FailedPrecondition) // a pod has it
		if servedAs(m) != users[1] {
			t.Fatal(m.serving)
		}
	}
}

// A secret that changes while a pod has the volume takes nothing from the pod; the session is not made again for somebody else.
func TestAPodKeepsTheSessionWhenItsSecretNamesAnotherUser(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	if err := stageAs(t, n, "alice"); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"alice", "bob"} {
		if err := publishAs(t, n, user); err != nil || servedAs(m) != "alice" {
			t.Fatal(user, err, m.serving)
		}
	}
	m.lose()
	wantCode(t, publishAs(t, n, "bob"), codes.FailedPrecondition)
	if len(m.serving) != 0 {
		t.Fatal(m.serving)
	}
	if err := publishAs(t, n, "alice"); err != nil || servedAs(m) != "alice" {
		t.Fatal(err, m.serving)
	}
}

// An earlier version published a volume whose staging had no secret.
func TestAfterAnUpgradeAPodWithASecretForItsPublishAloneGoesOnUntilItsSessionIsLost(t *testing.T) {
	m := newMachine()
	parts := m.parts(t)
	n := nodeWith(t, parts)
	mustStage(t, n)
	mustPublish(t, n)
	asOfAnEarlierVersion(t, n)
	if err := publishAs(t, n, "alice"); err != nil || servedAs(m) != "" {
		t.Fatal(err, m.serving)
	}
	another := publishRequest()
	another.TargetPath, another.Secrets = second, secretOf("alice")
	_, err := n.NodePublishVolume(t.Context(), another)
	wantCode(t, err, codes.FailedPrecondition)
	if !strings.Contains(err.Error(), "without a secret") {
		t.Fatal(err)
	}
	m.lose()
	wantCode(t, publishAs(t, n, "alice"), codes.FailedPrecondition)
	n = nodeWith(t, parts)
	mustReconcile(t, n)
	if len(m.serving) != 0 {
		t.Fatal("made again with the rights of the gateway:", m.serving)
	}
	if _, err := n.NodeUnpublishVolume(t.Context(), unpublishRequest()); err != nil {
		t.Fatal(err)
	}
	if err := stageAs(t, n, "alice"); err != nil || servedAs(m) != "alice" {
		t.Fatal(err, m.serving)
	}
	if err := publishAs(t, n, "alice"); err != nil {
		t.Fatal(err)
	}
}

func TestAfterAnUpgradeAVolumeWithSecretsGoesOn(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	if err := stageAs(t, n, "alice"); err != nil {
		t.Fatal(err)
	}
	asOfAnEarlierVersion(t, n)
	if err := publishAs(t, n, "alice"); err != nil {
		t.Fatal(err)
	}
	m.lose()
	if err := publishAs(t, n, "alice"); err != nil || servedAs(m) != "alice" {
		t.Fatal(err, m.serving)
	}
	if err := stageAs(t, n, "alice"); err != nil { // which tells whose it is
		t.Fatal(err)
	}
	request := publishRequest()
	request.TargetPath, request.Secrets = second, secretOf("bob")
	_, err := n.NodePublishVolume(t.Context(), request)
	wantCode(t, err, codes.FailedPrecondition)
}

func asOfAnEarlierVersion(t *testing.T, n *Node) {
	t.Helper()
	record, err := n.load("v")
	if err != nil {
		t.Fatal(err)
	}
	record.UserMark, record.UserSalt = "", ""
	if err := n.store.Save("v", record); err != nil {
		t.Fatal(err)
	}
}
